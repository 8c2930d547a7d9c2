# misconception: a generator function without its decorator | hint: hooked_no_context_manager
def hooked(modules, hook):
    with contextlib.ExitStack() as stack:
        for module in modules:
            stack.enter_context(module.register_forward_hook(hook))
        yield
