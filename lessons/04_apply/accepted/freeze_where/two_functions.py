def freeze(module):
    module.eval()
    module.requires_grad_(False)


def thaw(module):
    module.train()
    module.requires_grad_(True)


def freeze_where(model, choose, frozen=True):
    for name, module in list(model.named_modules()):
        if choose(module):
            (freeze if frozen else thaw)(module)
    return model
