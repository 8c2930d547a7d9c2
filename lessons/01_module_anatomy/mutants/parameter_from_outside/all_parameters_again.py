# misconception: hands over all parameters again | hint: parameter_in_two_groups
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": model.parameters()})
