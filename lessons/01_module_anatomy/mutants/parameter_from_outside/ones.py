# misconception: starts with ones | hint: wrong_start
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.ones(size))
    optimizer.add_param_group({"params": [model.offset]})
