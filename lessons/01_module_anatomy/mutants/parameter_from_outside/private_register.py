# misconception: writes a tensor into the private register | hint: unregistered_from_outside
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model._parameters["offset"] = torch.zeros(size, requires_grad=True)
    optimizer.add_param_group({"params": [model.offset]})
