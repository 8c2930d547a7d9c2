# misconception: hasattr is true for a bias that is None | hint: absent_bias
def init_by_type(module):
    if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
        else:
            nn.init.kaiming_normal_(module.weight)
        if hasattr(module, "bias"):
            module.bias.data.zero_()
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        module.weight.data.fill_(1)
        module.bias.data.zero_()
