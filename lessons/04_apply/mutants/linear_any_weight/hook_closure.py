# misconception: a hook that reads the module around it | hint: copy_remembers_original
def make_linear(module):
    def hook(m, args, output):
        return args[0] @ module.W + module.b

    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)) and not hasattr(module, "b"):
        module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = lambda X: X
        module.register_forward_hook(hook)
