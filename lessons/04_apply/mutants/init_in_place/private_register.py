# misconception: goes over the private register, where a bias may be None | hint: absent_is_none
@torch.no_grad()
def init_in_place(model, new):
    for module in model.modules():
        for parameter in module._parameters.values():
            parameter.copy_(new(parameter))
