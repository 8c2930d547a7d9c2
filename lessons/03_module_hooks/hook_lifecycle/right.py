# %% class_with_a_list
class hooked:
    def __init__(self, modules, hook):
        self.modules, self.hook = modules, hook

    def __enter__(self):
        self.handles = [module.register_forward_hook(self.hook) for module in self.modules]
        return self.handles

    def __exit__(self, kind, error, traceback):
        for handle in self.handles:
            handle.remove()

# %% class_with_exit_stack
class hooked:
    def __init__(self, modules, hook):
        self.modules, self.hook = modules, hook

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for module in self.modules:
                stack.callback(module.register_forward_hook(self.hook).remove)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        self.stack.close()

# %% handles_in_a_list
@contextlib.contextmanager
def hooked(modules, hook):
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()

# %% recursive
@contextlib.contextmanager
def hooked(modules, hook):
    if not modules:
        yield
    else:
        with modules[0].register_forward_hook(hook), hooked(modules[1:], hook):
            yield

# %% returns_a_stack
def hooked(modules, hook):
    stack = contextlib.ExitStack()
    try:
        for module in modules:
            stack.enter_context(module.register_forward_hook(hook))
    except BaseException:
        stack.close()
        raise
    return stack

# %% try_around_everything
@contextlib.contextmanager
def hooked(modules, hook):
    handles = []
    try:
        for module in modules:
            handles.append(module.register_forward_hook(hook))
        yield handles
    finally:
        for handle in handles:
            handle.remove()
