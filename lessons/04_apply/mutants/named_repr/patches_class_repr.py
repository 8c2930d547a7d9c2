# misconception: changes __repr__ of the class | hint: repr_class_patched
model = Model()


def function_repr(self):
    return f"{type(self).__name__}(name={self.name})"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.__class__.__repr__ = function_repr


returned_module = model.apply(add_repr)
