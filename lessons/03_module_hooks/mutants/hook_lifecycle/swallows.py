# misconception: an except that does not raise again | hint: hooked_swallows_error
@contextlib.contextmanager
def hooked(modules, hook):
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield
    except Exception as error:
        print("something went wrong:", error)
    finally:
        for handle in handles:
            handle.remove()
