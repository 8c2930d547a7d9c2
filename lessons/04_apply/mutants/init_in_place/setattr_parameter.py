# misconception: puts a new Parameter in the place | hint: parameter_replaced
def init_in_place(model, new):
    def visit(module):
        for name, parameter in list(module.named_parameters(recurse=False)):
            setattr(module, name, Parameter(new(parameter).clone(), requires_grad=parameter.requires_grad))

    model.apply(visit)
