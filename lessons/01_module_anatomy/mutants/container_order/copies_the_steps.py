# misconception: keeps copies | hint: copied_steps
from copy import deepcopy


class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(deepcopy(steps))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for index in self.order:
            x = self.steps[index](x)
        return x
