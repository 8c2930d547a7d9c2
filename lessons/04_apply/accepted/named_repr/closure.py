model = Model()


def function_repr(self):
    return "name=%s" % self.name


def add_repr(module):
    if hasattr(module, "name"):
        module.extra_repr = lambda: function_repr(module)


returned_module = model.apply(add_repr)
