# misconception: the size of the example | hint: sizes_of_example
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(2))
    optimizer.add_param_group({"params": [model.offset]})
