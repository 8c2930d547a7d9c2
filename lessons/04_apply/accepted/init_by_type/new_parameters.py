def init_by_type(module):
    convs = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
    norms = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    if not isinstance(module, (nn.Linear, *convs, *norms)):
        return
    if module.bias is not None:
        module.bias = Parameter(torch.zeros_like(module.bias))
    if module.weight is None:
        return
    weight = torch.ones_like(module.weight).detach()
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(weight)
    if isinstance(module, convs):
        nn.init.kaiming_normal_(weight, nonlinearity="relu")
    module.weight = Parameter(weight)
