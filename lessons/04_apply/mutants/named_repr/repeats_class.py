# misconception: writes the class name, which Module.__repr__ writes already | hint: repeats_class
model = Model()


def function_repr(self):
    return f"{type(self).__name__}(name={self.name})"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)
