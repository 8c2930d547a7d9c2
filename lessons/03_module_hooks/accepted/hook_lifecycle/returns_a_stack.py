def hooked(modules, hook):
    stack = contextlib.ExitStack()
    try:
        for module in modules:
            stack.enter_context(module.register_forward_hook(hook))
    except BaseException:
        stack.close()
        raise
    return stack
