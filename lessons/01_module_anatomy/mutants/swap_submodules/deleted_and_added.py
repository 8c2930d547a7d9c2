# misconception: deletes the name and adds it again | hint: anatomy_moved_to_the_end
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in model.modules():
        for name, child in list(parent._modules.items()):
            if isinstance(child, nn.ReLU):
                del parent._modules[name]
                parent.add_module(name, nn.Tanh().train(child.training))
    return model
