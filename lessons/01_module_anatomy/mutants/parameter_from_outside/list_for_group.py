# misconception: a list instead of a dict | hint: anatomy_group_in_another_form
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group([model.offset])
