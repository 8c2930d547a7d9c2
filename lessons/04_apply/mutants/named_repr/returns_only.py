# misconception: returns the text from the function given to apply | hint: apply_changes_nothing
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        return function_repr(module)


returned_module = model.apply(add_repr)
