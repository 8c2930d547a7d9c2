# misconception: changes a copy | hint: copied_model
from copy import deepcopy


def swap_relu(model: nn.Module) -> nn.Module:
    model = deepcopy(model)
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh().train(module.training))
    return model
