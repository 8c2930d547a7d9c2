# misconception: returns another gradient | hint: changes_gradient
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad)
    return grad * 2


model.W.register_hook(tensor_hook)
