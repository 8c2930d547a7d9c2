# misconception: the repr of the name instead of the name | hint: repr_notation
model = Model()


def function_repr(self):
    return f"name={self.name!r}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)
