# misconception: a group without momentum | hint: anatomy_settings_typed_in
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset], "momentum": 0.0})
