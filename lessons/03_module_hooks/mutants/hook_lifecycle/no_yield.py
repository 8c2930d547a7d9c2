# misconception: registers and removes without a yield | hint: hooked_no_yield
@contextlib.contextmanager
def hooked(modules, hook):
    handles = [module.register_forward_hook(hook) for module in modules]
    for handle in handles:
        handle.remove()
