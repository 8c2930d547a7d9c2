def init_in_place(model, new):
    model.load_state_dict({name: new(parameter) for name, parameter in model.named_parameters()}, strict=False)
