# misconception: ends KeyboardInterrupt quietly | hint: hooked_swallows_error
@contextlib.contextmanager
def hooked(modules, hook):
    with contextlib.ExitStack() as stack:
        for module in modules:
            stack.enter_context(module.register_forward_hook(hook))
        try:
            yield
        except KeyboardInterrupt:
            print("stopped")
