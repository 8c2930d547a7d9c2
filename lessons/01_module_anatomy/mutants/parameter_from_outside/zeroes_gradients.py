# misconception: sets the gradients back | hint: anatomy_gradients_thrown_away
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    optimizer.zero_grad()
