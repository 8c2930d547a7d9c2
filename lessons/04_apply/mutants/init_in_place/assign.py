# misconception: loads with assign=True | hint: parameter_replaced
def init_in_place(model, new):
    state = {name: new(parameter) for name, parameter in model.named_parameters()}
    model.load_state_dict(state, strict=False, assign=True)
