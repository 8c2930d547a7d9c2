# %% append_and_get_submodule
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.Module()
        for i, step in enumerate(steps):
            self.steps.add_module(str(i), step)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = x
        for i in self.order:
            out = self.get_submodule(f"steps.{i}")(out)
        return out

# %% module_dict
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleDict({str(i): step for i, step in enumerate(steps)})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for index in self.order:
            x = self.steps[str(index)](x)
        return x

# %% reduce
from functools import reduce


class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return reduce(lambda value, index: self.steps[index](value), self.order, x)

# %% registered_twice
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)
        self.run = nn.Sequential(*[self.steps[i] for i in order])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.run(x)

# %% sequential_as_list
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.Sequential(*steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for index in self.order:
            x = self.steps[index](x)
        return x
