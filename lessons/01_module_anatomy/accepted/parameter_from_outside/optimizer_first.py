def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    offset = Parameter(torch.zeros(size, dtype=torch.float32))
    optimizer.add_param_group({"params": [offset]})
    model.offset = offset
