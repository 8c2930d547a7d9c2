# misconception: repr() looks on the class, not on the object | hint: dunder_on_instance
model = Model()


def function_repr(self):
    return f"{type(self).__name__}(name={self.name})"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.__repr__ = partial(function_repr, module)


returned_module = model.apply(add_repr)
