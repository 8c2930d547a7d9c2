# misconception: returns the model untouched | hint: rebinds_name
def swap_relu(model: nn.Module) -> nn.Module:
    return model
