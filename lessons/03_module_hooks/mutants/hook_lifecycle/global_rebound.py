# misconception: a global name for the handles, which the inner block rebinds | hint: hooked_shared_handles
@contextlib.contextmanager
def hooked(modules, hook):
    global open_handles
    open_handles = []
    try:
        for module in modules:
            open_handles.append(module.register_forward_hook(hook))
        yield
    finally:
        for handle in open_handles:
            handle.remove()
