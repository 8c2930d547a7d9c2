# misconception: switches gradients off in order to write | hint: init_not_trainable
def init_by_type(module):
    kinds = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    if not isinstance(module, kinds):
        return
    module.requires_grad_(False)
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight)
    elif module.affine:
        module.weight.fill_(1)
    if module.bias is not None:
        module.bias.fill_(0)
