def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.param_groups[0]["params"].insert(0, model.offset)
