# misconception: keeps something else than what apply returns | hint: wrong_return
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = partial(function_repr, module)


model.apply(add_repr)
returned_module = repr(model)
