# misconception: a tensor hook on the parameter that keeps its gradient | hint: parameter_instead_of_module
model = Model()
answer = []


def module_hook(grad):
    answer.extend([grad, grad, grad])


model.W.register_hook(module_hook)
