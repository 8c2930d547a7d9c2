# misconception: the parameter needs no gradient | hint: gradient_cut
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size), requires_grad=False)
    optimizer.add_param_group({"params": [model.offset]})
