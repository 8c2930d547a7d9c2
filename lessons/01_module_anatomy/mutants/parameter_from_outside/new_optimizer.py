# misconception: builds a new optimizer that nobody uses | hint: optimizer_does_not_know
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
