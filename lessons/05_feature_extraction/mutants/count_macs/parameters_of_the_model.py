# misconception: counts the model's parameters | hint: feat_parameters
def count_macs(model, x):
    return sum(parameter.numel() for parameter in model.parameters())


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
