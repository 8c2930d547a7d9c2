# %% class_that_cleans_up_itself
class hooked:
    def __init__(self, modules, hook):
        self.modules = modules
        self.hook = hook
        self.handles = []

    def __enter__(self):
        try:
            for module in self.modules:
                self.handles.append(module.register_forward_hook(self.hook))
        except BaseException:
            self.remove()
            raise
        return self.handles

    def remove(self):
        while self.handles:
            self.handles.pop().remove()

    def __exit__(self, kind, error, traceback):
        self.remove()
        return False

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

# %% looks_first
@contextlib.contextmanager
def hooked(modules, hook):
    if not all(isinstance(module, nn.Module) for module in modules):
        raise TypeError("hooked() needs a list of modules")
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield
    finally:
        [handle.remove() for handle in handles]

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
