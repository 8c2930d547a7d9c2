# misconception: a hook for all modules | hint: hooked_too_many
@contextlib.contextmanager
def hooked(modules, hook):
    with torch.nn.modules.module.register_module_forward_hook(hook):
        yield
