# misconception: appends a group without settings | hint: anatomy_group_without_settings
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.param_groups.append({"params": [model.offset]})
