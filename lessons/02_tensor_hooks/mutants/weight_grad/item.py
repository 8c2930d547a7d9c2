# misconception: turns the gradient into a number | hint: python_number
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad.item())


model.W.register_hook(tensor_hook)
