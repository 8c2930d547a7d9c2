# misconception: prints the text instead of returning it | hint: repr_returns_nothing
model = Model()


def function_repr(self):
    print(f"name={self.name}")


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)
