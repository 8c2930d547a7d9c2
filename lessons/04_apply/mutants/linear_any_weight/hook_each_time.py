# misconception: adds one more hook each time | hint: second_time_on_top
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = lambda X: X
        module.register_forward_hook(lambda m, args, X: X @ m.W + m.b)
