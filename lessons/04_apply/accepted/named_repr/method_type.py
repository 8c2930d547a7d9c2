import types

model = Model()


def function_repr(self):
    return "name=" + self.name


def add_repr(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        module.extra_repr = types.MethodType(function_repr, module)


returned_module = model.apply(add_repr)
