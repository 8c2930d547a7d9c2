# misconception: extends by numbers | hint: python_number
model = Model()
answer = []


def tensor_hook(grad):
    answer.extend(grad.tolist())


model.W.register_hook(tensor_hook)
