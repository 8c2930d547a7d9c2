# misconception: spread by the number of outputs, as torchvision has it | hint: init_by_fan_out
def init_by_type(module):
    if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    elif isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        if module.affine:
            nn.init.constant_(module.weight, 1)
    else:
        return
    if module.bias is not None:
        nn.init.constant_(module.bias, 0)
