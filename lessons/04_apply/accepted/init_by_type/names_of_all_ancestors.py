def init_by_type(module):
    names = {cls for cls in type(module).__mro__}
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if nn.Linear in names:
        torch.nn.init.xavier_uniform_(weight)
    elif names & {nn.Conv1d, nn.Conv2d, nn.Conv3d}:
        torch.nn.init.kaiming_normal_(weight, a=0, mode="fan_in")
    elif names & {nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d}:
        if weight is not None:
            torch.nn.init.constant_(weight, 1)
    else:
        return
    if bias is not None:
        torch.nn.init.constant_(bias, 0)
