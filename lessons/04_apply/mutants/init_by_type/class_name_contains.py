# misconception: looks for pieces of the class name | hint: name_is_not_type
def init_by_type(module):
    name = module.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.kaiming_normal_(module.weight.data, nonlinearity="relu")
    elif name.find("Linear") != -1:
        nn.init.xavier_uniform_(module.weight.data)
    elif name.find("BatchNorm") != -1:
        if module.weight is not None:
            nn.init.constant_(module.weight.data, 1.0)
    else:
        return
    if module.bias is not None:
        nn.init.constant_(module.bias.data, 0.0)
