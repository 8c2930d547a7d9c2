# misconception: one global list of handles | hint: hooked_shared_handles
open_handles = []


@contextlib.contextmanager
def hooked(modules, hook):
    try:
        for module in modules:
            open_handles.append(module.register_forward_hook(hook))
        yield
    finally:
        while open_handles:
            open_handles.pop().remove()
