# misconception: a column | hint: offset_shape
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size, 1))
    optimizer.add_param_group({"params": [model.offset]})
