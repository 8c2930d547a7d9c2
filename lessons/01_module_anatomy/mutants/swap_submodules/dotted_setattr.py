# misconception: setattr with a dotted name | hint: dotted_setattr
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.ReLU):
            setattr(model, name, nn.Tanh().train(module.training))
    return model
