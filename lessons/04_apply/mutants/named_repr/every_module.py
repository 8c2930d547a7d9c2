# misconception: gives the text to modules that have no name | hint: not_every_module_has_it
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)
