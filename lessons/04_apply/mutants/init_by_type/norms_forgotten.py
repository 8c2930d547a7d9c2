# misconception: forgets batch norms | hint: init_type_missed
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)
