def freeze_where(model: nn.Module, choose, frozen: bool = True) -> nn.Module:
    return model.apply(lambda module: choose(module) and module.requires_grad_(not frozen).train(not frozen))
