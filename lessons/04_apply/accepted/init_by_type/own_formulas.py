import math


@torch.no_grad()
def init_by_type(module):
    if isinstance(module, nn.Linear):
        limit = math.sqrt(6 / (module.in_features + module.out_features))
        module.weight.uniform_(-limit, limit)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        fan_in = module.weight[0].numel()
        module.weight.copy_(torch.randn_like(module.weight) * math.sqrt(2 / fan_in))
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        for parameter in module.parameters(recurse=False):
            parameter.fill_(1)
    else:
        return
    if module.bias is not None:
        module.bias.zero_()
