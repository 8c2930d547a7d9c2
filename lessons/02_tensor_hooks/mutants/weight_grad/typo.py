# misconception: a misspelt method, found only in backward | hint: unknown_method
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad.cloned())


model.W.register_hook(tensor_hook)
