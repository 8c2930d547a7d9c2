# misconception: misspelt | hint: unknown_method
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad.climp_(0, 1))


model.W.register_hook(tensor_hook)
