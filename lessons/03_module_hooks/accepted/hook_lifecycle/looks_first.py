@contextlib.contextmanager
def hooked(modules, hook):
    if not all(isinstance(module, nn.Module) for module in modules):
        raise TypeError("hooked() needs a list of modules")
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield
    finally:
        [handle.remove() for handle in handles]
