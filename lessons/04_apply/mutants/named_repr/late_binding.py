# misconception: all closures of one loop share the variable | hint: late_binding
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    for part in module.modules():
        if "Function" in type(part).__name__:
            part.extra_repr = lambda: function_repr(part)
    last = [one for one in module.modules() if "Function" in type(one).__name__]
    part = last[-1] if last else None


returned_module = model.apply(add_repr)
