def freeze_where(model, choose, frozen=True):
    for module in model.modules():
        if choose(module):
            for parameter in module.parameters():
                parameter.requires_grad = not frozen
            if frozen:
                module.eval()
            else:
                module.train()
    return model
