# misconception: full backward hooks | hint: hooked_other_kind
@contextlib.contextmanager
def hooked(modules, hook):
    with contextlib.ExitStack() as stack:
        for module in modules:
            stack.enter_context(module.register_full_backward_hook(hook))
        yield
