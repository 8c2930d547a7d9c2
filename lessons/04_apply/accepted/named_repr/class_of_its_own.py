model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if type(module).__name__.startswith("Function_"):
        cls = type(module)
        module.__class__ = type(cls.__name__, (cls,), {"extra_repr": function_repr})


returned_module = model.apply(add_repr)
