# misconception: sets the optimizer up anew and loses the momentum | hint: group_replaced
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    settings = dict(optimizer.defaults)
    optimizer.__init__(model.parameters(), **settings)
