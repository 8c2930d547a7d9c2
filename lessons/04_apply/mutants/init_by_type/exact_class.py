# misconception: compares classes, so subclasses are left out | hint: name_is_not_type
def init_by_type(module):
    if type(module) is nn.Linear:
        nn.init.xavier_uniform_(module.weight)
    elif type(module) in (nn.Conv1d, nn.Conv2d, nn.Conv3d):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif type(module) in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d):
        if module.weight is not None:
            nn.init.ones_(module.weight)
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)
