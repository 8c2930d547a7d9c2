# misconception: loads the old state into a new set-up | hint: group_replaced
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    state = optimizer.state_dict()
    optimizer.__init__(model.parameters(), **optimizer.defaults)
    optimizer.load_state_dict(state)
