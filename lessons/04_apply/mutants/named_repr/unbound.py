# misconception: a plain function on an object gets no self | hint: unbound_function
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = function_repr


returned_module = model.apply(add_repr)
