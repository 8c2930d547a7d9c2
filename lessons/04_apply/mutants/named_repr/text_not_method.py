# misconception: puts the text where a method belongs | hint: text_for_method
model = Model()


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    if "Function" in type(module).__name__:
        module.extra_repr = function_repr(module)


returned_module = model.apply(add_repr)
