# misconception: assigns a tensor to the name of a Parameter | hint: tensor_for_parameter
def init_in_place(model, new):
    def visit(module):
        for name, parameter in list(module.named_parameters(recurse=False)):
            setattr(module, name, new(parameter))

    model.apply(visit)
