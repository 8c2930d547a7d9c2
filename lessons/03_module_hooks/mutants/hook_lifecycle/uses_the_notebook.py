# misconception: works on the notebook's module | hint: function_uses_global
adder = Add()


@contextlib.contextmanager
def hooked(modules, hook):
    with adder.register_forward_hook(hook):
        yield
