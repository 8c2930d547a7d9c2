# misconception: the old forward runs before the hook | hint: old_forward_gets_it_first
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
            module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)
