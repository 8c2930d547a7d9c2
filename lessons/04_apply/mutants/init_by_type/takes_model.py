# misconception: takes the name as well | hint: apply_argument
def init_by_type(name, module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)
