# misconception: yields each handle | hint: hooked_yields_again
@contextlib.contextmanager
def hooked(modules, hook):
    with contextlib.ExitStack() as stack:
        handles = [stack.enter_context(module.register_forward_hook(hook)) for module in modules]
        for module in modules:
            yield module
