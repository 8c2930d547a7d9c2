# misconception: calls nn.Linear with its own weight inside | hint: linear_inside
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        n, m = module.W.shape
        module.linear = nn.Linear(n, m)
        module.b = module.linear.bias
        module.forward = module.linear.forward
