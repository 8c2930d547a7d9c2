# misconception: adds the offset by a hook as well | hint: offset_used_twice
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    model.register_forward_hook(lambda m, i, o: o + m.offset)
