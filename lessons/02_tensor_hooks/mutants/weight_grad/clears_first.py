# misconception: clears the list at each call | hint: keeps_last_only
model = Model()
answer = []


def tensor_hook(grad):
    answer.clear()
    answer.append(grad)


model.W.register_hook(tensor_hook)
