# misconception: rebinds a local name | hint: apply_changes_nothing
def init_by_type(module):
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if isinstance(module, nn.Linear):
        weight = nn.init.xavier_uniform_(torch.empty_like(weight))
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        weight = nn.init.kaiming_normal_(torch.empty_like(weight))
    if bias is not None:
        bias = torch.zeros_like(bias)
