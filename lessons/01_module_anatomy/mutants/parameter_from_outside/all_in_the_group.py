# misconception: puts all parameters into the group again | hint: parameter_in_two_groups
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.param_groups[0]["params"].extend(model.parameters())
