# misconception: hands out the names in the order of the visits | hint: repr_typed_in_names
model = Model()


def function_repr(self):
    return f"name={self.shown}"


def add_repr(module):
    names = {"a": "duck", "b": "goose", "c": "heron", "d": "swan"}
    letter = type(module).__name__[-1].lower()
    if "Function" in type(module).__name__:
        module.shown = names[letter]
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)
