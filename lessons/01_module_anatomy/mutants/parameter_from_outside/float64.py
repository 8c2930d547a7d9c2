# misconception: an offset of float64 | hint: anatomy_wrong_dtype
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size, dtype=torch.float64))
    optimizer.add_param_group({"params": [model.offset]})
