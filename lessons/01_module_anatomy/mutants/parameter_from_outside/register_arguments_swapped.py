# misconception: the tensor before the name | hint: anatomy_register_arguments
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.register_parameter(Parameter(torch.zeros(size)), "offset")
    optimizer.add_param_group({"params": [model.offset]})
