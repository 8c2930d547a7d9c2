@contextlib.contextmanager
def hooked(modules, hook):
    handles = []
    try:
        for module in modules:
            handles.append(module.register_forward_hook(hook))
        yield handles
    finally:
        for handle in handles:
            handle.remove()
