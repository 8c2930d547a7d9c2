# misconception: compares class names | hint: name_is_not_type
def init_by_type(module):
    name = type(module).__name__
    if name == "Linear":
        nn.init.xavier_uniform_(module.weight)
    elif name in ("Conv1d", "Conv2d", "Conv3d"):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"):
        if module.affine:
            nn.init.ones_(module.weight)
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)
