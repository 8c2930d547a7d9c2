# misconception: clears the module's dict of hooks | hint: removes_other_hooks
@contextlib.contextmanager
def hooked(modules, hook):
    try:
        for module in modules:
            module.register_forward_hook(hook)
        yield
    finally:
        for module in modules:
            if isinstance(module, nn.Module):
                module._forward_hooks.clear()
