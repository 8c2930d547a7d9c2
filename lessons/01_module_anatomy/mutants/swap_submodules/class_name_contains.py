# misconception: takes every class with ReLU in its name | hint: by_class_name
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if "ReLU" in type(module).__name__:
            model.set_submodule(name, nn.Tanh().train(module.training))
    return model
