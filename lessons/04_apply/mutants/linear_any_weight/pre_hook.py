# misconception: a forward pre-hook, with the old forward behind it | hint: pre_hook_keeps_forward
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
            module.register_forward_pre_hook(lambda m, args: args[0] @ m.W + m.b)
