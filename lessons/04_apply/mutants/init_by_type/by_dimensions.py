# misconception: takes any weight by its number of dimensions | hint: init_reaches_too_far
def init_by_type(module):
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if weight is not None:
        if weight.dim() == 2:
            nn.init.xavier_uniform_(weight)
        elif weight.dim() > 2:
            nn.init.kaiming_normal_(weight, nonlinearity="relu")
        else:
            nn.init.ones_(weight)
    if bias is not None:
        nn.init.zeros_(bias)
