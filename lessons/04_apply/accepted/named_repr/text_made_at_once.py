model = Model()


def function_repr(self):
    return f"name={self.name}"


class AddRepr:
    def __call__(self, module):
        if "_" in type(module).__name__ and "Layer" not in type(module).__name__:
            text = function_repr(module)
            module.extra_repr = lambda: text


add_repr = AddRepr()
returned_module = model.apply(add_repr)
