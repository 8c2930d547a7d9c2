# misconception: an attribute that repr does not ask for | hint: unread_attribute
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.repr = partial(function_repr, module)


returned_module = model.apply(add_repr)
