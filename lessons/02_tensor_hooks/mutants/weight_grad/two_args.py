# misconception: a tensor hook with the arguments of a module hook | hint: hook_arguments
model = Model()
answer = []


def tensor_hook(module, grad):
    answer.append(grad)


model.W.register_hook(tensor_hook)
