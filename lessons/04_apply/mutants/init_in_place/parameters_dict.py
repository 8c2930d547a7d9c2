# misconception: writes a new Parameter into the register | hint: parameter_replaced
def init_in_place(model, new):
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[name] = nn.Parameter(new(parameter))
