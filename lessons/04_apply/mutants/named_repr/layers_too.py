# misconception: gives a text to the layers as well | hint: other_repr_changed
model = Model()


def function_repr(self):
    return f"name={getattr(self, 'name', None)}"


def add_repr(module):
    module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)
