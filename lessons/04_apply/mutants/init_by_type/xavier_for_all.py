# misconception: xavier for everything that has a weight | hint: init_needs_two_dimensions
def init_by_type(module):
    if hasattr(module, "weight"):
        nn.init.xavier_uniform_(module.weight)
    if getattr(module, "bias", None) is not None:
        nn.init.zeros_(module.bias)
