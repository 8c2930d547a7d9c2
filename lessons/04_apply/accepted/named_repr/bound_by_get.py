model = Model()


def function_repr(self):
    return "name={}".format(self.name)


def add_repr(module):
    if not list(module.children()):
        setattr(module, "extra_repr", function_repr.__get__(module))
    return module


returned_module = model.apply(add_repr)
