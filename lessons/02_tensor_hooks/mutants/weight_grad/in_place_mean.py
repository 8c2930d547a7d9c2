# misconception: edits the gradient in place | hint: changes_gradient
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad.mul_(0.5))


model.W.register_hook(tensor_hook)
