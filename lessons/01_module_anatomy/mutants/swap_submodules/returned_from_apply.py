# misconception: returns the new module from the function given to apply | hint: rebinds_name
def swap_relu(model: nn.Module) -> nn.Module:
    def replace(module):
        return nn.Tanh().train(module.training) if isinstance(module, nn.ReLU) else module


    return model.apply(replace)
