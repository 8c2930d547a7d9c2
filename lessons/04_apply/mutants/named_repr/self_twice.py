# misconception: fixes self twice | hint: repr_arguments
import types

model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = types.MethodType(partial(function_repr, module), module)


returned_module = model.apply(add_repr)
