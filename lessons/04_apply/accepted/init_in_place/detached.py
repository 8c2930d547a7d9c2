def init_in_place(model: nn.Module, new) -> None:
    for name, parameter in model.named_parameters():
        parameter.detach().copy_(new(parameter).detach())
