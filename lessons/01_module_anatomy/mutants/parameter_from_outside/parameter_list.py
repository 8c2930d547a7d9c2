# misconception: keeps it in a ParameterList | hint: anatomy_other_names
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    offset = Parameter(torch.zeros(size))
    model.extra = nn.ParameterList([offset])
    optimizer.add_param_group({"params": [offset]})
