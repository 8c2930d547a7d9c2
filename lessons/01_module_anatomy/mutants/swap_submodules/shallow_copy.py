# misconception: changes a shallow copy | hint: copied_model
import copy


def swap_relu(model: nn.Module) -> nn.Module:
    out = copy.copy(model)
    for name, module in list(out.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            out.set_submodule(name, nn.Tanh().train(module.training))
    return out
