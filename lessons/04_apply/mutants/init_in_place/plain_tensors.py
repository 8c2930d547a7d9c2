# misconception: puts plain tensors in the place of parameters | hint: tensor_in_parameters
def init_in_place(model, new):
    def visit(module):
        for name, parameter in list(module.named_parameters(recurse=False)):
            delattr(module, name)
            setattr(module, name, new(parameter))

    model.apply(visit)
