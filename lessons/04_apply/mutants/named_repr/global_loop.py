# misconception: a loop variable read later, when it is the last module | hint: apply_late_binding
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    global current
    if "Function" in type(module).__name__:
        current = module
        module.extra_repr = lambda: function_repr(current)


returned_module = model.apply(add_repr)
