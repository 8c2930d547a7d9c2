# %% defaults_spelt_out
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({**optimizer.defaults, "params": [model.offset]})

# %% generator
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": (p for n, p in model.named_parameters() if n == "offset")})

# %% optimizer_first
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    offset = Parameter(torch.zeros(size, dtype=torch.float32))
    optimizer.add_param_group({"params": [offset]})
    model.offset = offset

# %% register_parameter
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.register_parameter("offset", nn.Parameter(torch.zeros(size)))
    optimizer.add_param_group({"params": model.offset})

# %% defaults_in_a_group_of_its_own
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = nn.Parameter(torch.zeros(size))
    optimizer.param_groups.append({**optimizer.param_groups[0], **optimizer.defaults, "params": [model.offset]})

# %% says_what_it_did
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> nn.Parameter:
    offset = Parameter(torch.full((size,), 0.0))
    model.offset = offset
    optimizer.add_param_group(dict(params=[offset]))
    return offset
