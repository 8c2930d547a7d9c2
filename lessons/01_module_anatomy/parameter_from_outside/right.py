# %% append_to_group
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    setattr(model, "offset", Parameter(torch.zeros(size)))
    optimizer.param_groups[0]["params"].append(model.offset)

# %% copies_settings
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    offset = Parameter(torch.zeros(size), requires_grad=True)
    model.offset = offset
    settings = {key: value for key, value in optimizer.param_groups[0].items() if key != "params"}
    optimizer.add_param_group({**settings, "params": [offset]})

# %% defaults_spelt_out
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({**optimizer.defaults, "params": [model.offset]})

# %% first_in_the_group
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.param_groups[0]["params"].insert(0, model.offset)

# %% generator
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": (p for n, p in model.named_parameters() if n == "offset")})

# %% group_copied
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    group = dict(optimizer.param_groups[0])
    group["params"] = [model.offset]
    optimizer.param_groups.append(group)

# %% groups_rebuilt
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.param_groups.clear()
    optimizer.add_param_group({"params": model.parameters()})

# %% list_replaced
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.param_groups[0]["params"] = list(model.parameters())

# %% only_what_is_new
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.empty(size))
    nn.init.zeros_(model.offset)
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    optimizer.add_param_group({"params": [p for p in model.parameters() if id(p) not in held]})

# %% optimizer_first
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    offset = Parameter(torch.zeros(size, dtype=torch.float32))
    optimizer.add_param_group({"params": [offset]})
    model.offset = offset

# %% register_parameter
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.register_parameter("offset", nn.Parameter(torch.zeros(size)))
    optimizer.add_param_group({"params": model.offset})
