model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    module_name = module.__class__.__name__
    if "Function" in module_name:
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)
