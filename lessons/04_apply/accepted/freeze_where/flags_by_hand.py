def freeze_where(model, choose, frozen=True):
    chosen = [module for module in model.modules() if choose(module)]
    for module in chosen:
        for part in module.modules():
            part.training = not frozen
        for name, parameter in module.named_parameters():
            parameter.requires_grad_(not frozen)
    return model
