# misconception: skips entries that are no modules | hint: hooked_swallows_error
@contextlib.contextmanager
def hooked(modules, hook):
    with contextlib.ExitStack() as stack:
        for module in modules:
            if isinstance(module, nn.Module):
                stack.enter_context(module.register_forward_hook(hook))
        yield
