# %% class_of_its_own
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if type(module).__name__.startswith("Function_"):
        cls = type(module)
        module.__class__ = type(cls.__name__, (cls,), {"extra_repr": function_repr})


returned_module = model.apply(add_repr)

# %% closure
model = Model()


def function_repr(self):
    return "name=%s" % self.name


def add_repr(module):
    if "Function" in str(type(module)):
        module.extra_repr = lambda: function_repr(module)


returned_module = model.apply(add_repr)

# %% method_type
import types

model = Model()


def function_repr(self):
    return "name=" + self.name


def add_repr(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        module.extra_repr = types.MethodType(function_repr, module)


returned_module = model.apply(add_repr)

# %% seed_partial
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    module_name = module.__class__.__name__
    if "Function" in module_name:
        module.extra_repr = partial(function_repr, module)


returned_module = model.apply(add_repr)

# %% callable_object
model = Model()


def function_repr(self):
    return f"name={self.name}"


class AddRepr:
    def __call__(self, module):
        if "_" in type(module).__name__ and "Layer" not in type(module).__name__:
            module.extra_repr = lambda: function_repr(module)


add_repr = AddRepr()
returned_module = model.apply(add_repr)
