model = Model(shape=(3, 3))


def linear(X, layer):
    return torch.einsum("ij,jk->ik", X, layer.W) + layer.b


def make_linear(module: nn.Module) -> None:
    if not isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        return
    if "b" not in dict(module.named_parameters()):
        module.b = Parameter(torch.zeros(module.W[0].numel()))
    module.forward = partial(linear, layer=module)


model.apply(make_linear)
