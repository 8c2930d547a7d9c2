# misconception: registered under another name | hint: anatomy_other_names
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.register_parameter("bias2", Parameter(torch.zeros(size)))
    optimizer.add_param_group({"params": [model.bias2]})
