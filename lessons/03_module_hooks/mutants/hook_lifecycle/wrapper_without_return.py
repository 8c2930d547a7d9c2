# misconception: a wrapper that does not hand on what the hook returns | hint: hooked_return_lost
@contextlib.contextmanager
def hooked(modules, hook):
    def wrapper(module, args, output):
        hook(module, args, output)

    with contextlib.ExitStack() as stack:
        for module in modules:
            stack.enter_context(module.register_forward_hook(wrapper))
        yield
