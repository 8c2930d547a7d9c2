STARTS = [
    ((nn.Linear,), nn.init.xavier_uniform_),
    ((nn.Conv1d, nn.Conv2d, nn.Conv3d), partial(nn.init.kaiming_normal_, mode="fan_in", nonlinearity="relu")),
    ((nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d), nn.init.ones_),
]


def init_by_type(module: nn.Module) -> None:
    for types, init in STARTS:
        if isinstance(module, types):
            for name, parameter in module.named_parameters(recurse=False):
                init(parameter) if name == "weight" else nn.init.zeros_(parameter)
