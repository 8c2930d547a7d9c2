# %% early_returns
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
        return
    if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
        return
    if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)) and module.affine:
        nn.init.ones_(module.weight)
        nn.init.zeros_(module.bias)

# %% new_parameters
def init_by_type(module):
    convs = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
    norms = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    if not isinstance(module, (nn.Linear, *convs, *norms)):
        return
    if module.bias is not None:
        module.bias = Parameter(torch.zeros_like(module.bias))
    if module.weight is None:
        return
    weight = torch.ones_like(module.weight).detach()
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(weight)
    if isinstance(module, convs):
        nn.init.kaiming_normal_(weight, nonlinearity="relu")
    module.weight = Parameter(weight)

# %% own_formulas
import math


@torch.no_grad()
def init_by_type(module):
    if isinstance(module, nn.Linear):
        limit = math.sqrt(6 / (module.in_features + module.out_features))
        module.weight.uniform_(-limit, limit)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        fan_in = module.weight[0].numel()
        module.weight.copy_(torch.randn_like(module.weight) * math.sqrt(2 / fan_in))
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        for parameter in module.parameters(recurse=False):
            parameter.fill_(1)
    else:
        return
    if module.bias is not None:
        module.bias.zero_()

# %% table_of_types
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

# %% single_dispatch
from functools import singledispatch


@singledispatch
def init_by_type(module: nn.Module) -> None:
    pass


@init_by_type.register
def _(module: nn.Linear) -> None:
    nn.init.xavier_uniform_(module.weight)
    clear(module.bias)


@init_by_type.register(nn.Conv1d)
@init_by_type.register(nn.Conv2d)
@init_by_type.register(nn.Conv3d)
def _(module) -> None:
    nn.init.kaiming_normal_(module.weight)
    clear(module.bias)


@init_by_type.register(nn.BatchNorm1d)
@init_by_type.register(nn.BatchNorm2d)
@init_by_type.register(nn.BatchNorm3d)
def _(module) -> None:
    module.reset_parameters()


def clear(bias):
    if bias is not None:
        nn.init.zeros_(bias)
