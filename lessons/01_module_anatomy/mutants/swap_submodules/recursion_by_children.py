# misconception: replaces by the name under which children are shown | hint: shared_place_missed
def swap_relu(model: nn.Module) -> nn.Module:
    if isinstance(model, nn.ReLU):
        return nn.Tanh().train(model.training)
    for name, child in model.named_children():
        setattr(model, name, swap_relu(child))
    return model
