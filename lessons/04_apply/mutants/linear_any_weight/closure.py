# misconception: the function remembers the module around it | hint: copy_remembers_original
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = lambda X: X @ module.W + module.b


model = Model(shape=(3, 3)).apply(make_linear)
