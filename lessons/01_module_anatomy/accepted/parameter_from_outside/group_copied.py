def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    group = dict(optimizer.param_groups[0])
    group["params"] = [model.offset]
    optimizer.param_groups.append(group)
