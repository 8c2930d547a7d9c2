# misconception: the optimizer gets a clone | hint: optimizer_does_not_know
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset.clone()]})
