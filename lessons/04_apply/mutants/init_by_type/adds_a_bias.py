# misconception: gives a bias to layers that have none | hint: absent_bias
def init_by_type(module):
    if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
        else:
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        module.bias = Parameter(torch.zeros(module.weight.shape[0]))
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        if module.affine:
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
