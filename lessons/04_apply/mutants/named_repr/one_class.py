# misconception: reaches one class only | hint: apply_misses_some
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if isinstance(module, Function_A):
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)
