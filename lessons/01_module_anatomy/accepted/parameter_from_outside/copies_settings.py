def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    offset = Parameter(torch.zeros(size), requires_grad=True)
    model.offset = offset
    settings = {key: value for key, value in optimizer.param_groups[0].items() if key != "params"}
    optimizer.add_param_group({**settings, "params": [offset]})
