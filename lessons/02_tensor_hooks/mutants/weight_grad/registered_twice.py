# misconception: registers the hook twice | hint: registered_twice
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad)


model.W.register_hook(tensor_hook)
handle = model.W.register_hook(tensor_hook)
