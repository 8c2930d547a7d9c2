# misconception: gives weight and bias to batch norms that have none | hint: absent_bias
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        module.weight = Parameter(torch.ones(module.num_features))
        module.bias = Parameter(torch.zeros(module.num_features))
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)
