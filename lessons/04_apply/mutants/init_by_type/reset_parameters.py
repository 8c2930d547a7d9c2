# misconception: PyTorch's own start for each layer | hint: init_not_by_table
def init_by_type(module):
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()
    if getattr(module, "bias", None) is not None:
        nn.init.zeros_(module.bias)
