# misconception: the stack ends before the yield | hint: hook_never_ran
@contextlib.contextmanager
def hooked(modules, hook):
    with contextlib.ExitStack() as stack:
        for module in modules:
            stack.enter_context(module.register_forward_hook(hook))
    yield
