# misconception: makes a step | hint: anatomy_one_step_more
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    optimizer.step()
