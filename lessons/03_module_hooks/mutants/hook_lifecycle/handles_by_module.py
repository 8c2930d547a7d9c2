# misconception: a dict of handles by module, where the inner block overwrites the outer one's | hint: hooked_shared_handles
handle_of = {}


@contextlib.contextmanager
def hooked(modules, hook):
    try:
        for module in modules:
            handle_of[module] = module.register_forward_hook(hook)
        yield
    finally:
        for module in modules:
            if module in handle_of:
                handle_of[module].remove()
