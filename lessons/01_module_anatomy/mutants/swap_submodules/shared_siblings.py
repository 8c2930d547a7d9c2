# misconception: recursion over named_children(), which skips a second name of the same object | hint: shared_place_missed
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_children()):
        if isinstance(module, nn.ReLU):
            setattr(model, name, nn.Tanh().train(module.training))
        else:
            swap_relu(module)
    return model
