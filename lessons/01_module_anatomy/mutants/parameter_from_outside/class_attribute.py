# misconception: set on the class | hint: unregistered_from_outside
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    offset = Parameter(torch.zeros(size))
    type(model).offset = offset
    optimizer.add_param_group({"params": [offset]})
