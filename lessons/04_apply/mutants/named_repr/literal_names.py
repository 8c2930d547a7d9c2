# misconception: the names of this one model, typed in | hint: repr_typed_in_names
model = Model()


def function_repr(self):
    names = {"Function_A": "duck", "Function_B": "goose", "Function_C": "heron", "Function_D": "swan"}
    return f"name={names[type(self).__name__]}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)
