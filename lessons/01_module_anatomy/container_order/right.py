# %% a_sequential_itself
class Chain(nn.Sequential):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order:
            x = self.steps.get_submodule(str(i))(x)
        return x

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

# %% container_of_its_own
class Steps(nn.ModuleList):
    def forward(self, x, order):
        for i in order:
            x = self[i](x)
        return x


class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = Steps(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.steps(x, self.order)

# %% helper_called_run
def run(x, steps, order):
    for index in order:
        x = steps[index](x)
    return x


class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return run(x, self.steps, self.order)

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

# %% order_as_buffer
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.register_buffer("order", torch.tensor(order), persistent=False)
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order.tolist():
            x = self.steps[i](x)
        return x

# %% recursion
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = tuple(order)
        self.steps = nn.ModuleList(steps)

    def run(self, x, position):
        return x if position == len(self.order) else self.run(self.steps[self.order[position]](x), position + 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.run(x, 0)

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

# %% sequential_on_the_spot
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList()
        self.steps.extend(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.Sequential(*(self.steps[i] for i in self.order))(x)

# %% while_loop
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        position = 0
        while position < len(self.order):
            x = self.steps[self.order[position]].forward(x)
            position += 1
        return x
