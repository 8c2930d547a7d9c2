# misconception: expects every module to have a weight | hint: not_every_module_has_it
def init_by_type(module):
    if module.weight.dim() == 2:
        nn.init.xavier_uniform_(module.weight)
    elif module.weight.dim() > 2:
        nn.init.kaiming_normal_(module.weight)
    else:
        nn.init.ones_(module.weight)
    if module.bias is not None:
        nn.init.zeros_(module.bias)
