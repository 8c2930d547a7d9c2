def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": (p for n, p in model.named_parameters() if n == "offset")})
