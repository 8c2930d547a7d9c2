# misconception: all closures of one loop share the loop variable | hint: apply_late_binding
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    for part in module.modules():
        if "Function" in type(part).__name__:
            part.extra_repr = lambda: function_repr(part)


returned_module = model.apply(add_repr)
