# %% apply_remembers
def init_in_place(model, new):
    seen = set()

    @torch.no_grad()
    def visit(module):
        for parameter in module.parameters(recurse=False):
            if parameter not in seen:
                seen.add(parameter)
                parameter.copy_(new(parameter))

    model.apply(visit)

# %% data_clone_of_its_kind
def init_in_place(model, new):
    for p in model.parameters():
        p.data = new(p).detach().clone().to(p.dtype)

# %% data_copy
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.data.copy_(new(parameter))

# %% detached
def init_in_place(model: nn.Module, new) -> None:
    for name, parameter in model.named_parameters():
        parameter.detach().copy_(new(parameter).detach())

# %% load_state_dict
def init_in_place(model, new):
    model.load_state_dict({name: new(parameter) for name, parameter in model.named_parameters()}, strict=False)

# %% slice_assignment
def init_in_place(model, new):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            model.get_parameter(name)[...] = new(parameter)

# %% zero_then_add
def init_in_place(model, new):
    values = [new(parameter) for parameter in model.parameters()]
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), values):
            parameter.zero_().add_(value)

# %% collected_first
def init_in_place(model, new):
    pairs = [(parameter, new(parameter)) for parameter in model.parameters()]
    for parameter, values in pairs:
        parameter.data.copy_(values)

# %% told_apart_by_their_memory
def init_in_place(model, new):
    seen = set()
    with torch.no_grad():
        for module in model.modules():
            for p in module.parameters(recurse=False):
                if p.data_ptr() not in seen:
                    seen.add(p.data_ptr())
                    p.copy_(new(p))
