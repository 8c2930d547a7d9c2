# misconception: changes the class, so every object of it | hint: repr_class_patched
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        type(module).extra_repr = function_repr


returned_module = model.apply(add_repr)
