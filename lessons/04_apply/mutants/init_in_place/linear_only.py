# misconception: looks for linear layers | hint: not_only_weight_and_bias
@torch.no_grad()
def init_in_place(model, new):
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.weight.copy_(new(module.weight))
            if module.bias is not None:
                module.bias.copy_(new(module.bias))
