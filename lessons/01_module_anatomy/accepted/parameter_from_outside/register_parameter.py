def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.register_parameter("offset", nn.Parameter(torch.zeros(size)))
    optimizer.add_param_group({"params": model.offset})
