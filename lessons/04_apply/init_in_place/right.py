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

# %% load_state_dict
def init_in_place(model, new):
    model.load_state_dict({name: new(parameter) for name, parameter in model.named_parameters()}, strict=False)

# %% slice_assignment
def init_in_place(model, new):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            model.get_parameter(name)[...] = new(parameter)

# %% collected_first
def init_in_place(model, new):
    pairs = [(parameter, new(parameter)) for parameter in model.parameters()]
    for parameter, values in pairs:
        parameter.data.copy_(values)
