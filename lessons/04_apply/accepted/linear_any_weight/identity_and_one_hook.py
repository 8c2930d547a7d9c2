def make_linear(module):
    if "W" in module._parameters and "b" not in module._parameters:
        module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = lambda X: X
        module.register_forward_hook(lambda m, args, X: X @ m.W + m.b)
