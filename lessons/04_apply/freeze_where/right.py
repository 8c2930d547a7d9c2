# %% flags_by_hand
def freeze_where(model, choose, frozen=True):
    chosen = [module for module in model.modules() if choose(module)]
    for module in chosen:
        for part in module.modules():
            part.training = not frozen
        for name, parameter in module.named_parameters():
            parameter.requires_grad_(not frozen)
            parameter.grad = None if frozen else parameter.grad
    return model

# %% parameter_by_parameter
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            for parameter in module.parameters():
                parameter.requires_grad = not frozen
                if frozen:
                    del parameter.grad
            if frozen:
                module.eval()
            else:
                module.train()
    return model

# %% recursion
def freeze_where(model, choose, frozen=True, inside=False):
    inside = inside or choose(model)
    if inside:
        for parameter in model.parameters(recurse=False):
            parameter.requires_grad = not frozen
            if frozen:
                parameter.grad = None
        model.training = not frozen
    for child in model.children():
        freeze_where(child, choose, frozen, inside)
    return model

# %% two_functions
def freeze(module):
    module.eval()
    module.requires_grad_(False)
    module.zero_grad()


def thaw(module):
    module.train()
    module.requires_grad_(True)


def freeze_where(model, choose, frozen=True):
    for name, module in list(model.named_modules()):
        if choose(module):
            (freeze if frozen else thaw)(module)
    return model

# %% flag_and_mode_only
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)

    return model.apply(visit)

# %% loop_over_modules
def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            for parameter in module.parameters():
                parameter.requires_grad = not frozen
            module.train(not frozen)
    return model
