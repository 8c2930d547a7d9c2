# misconception: removes itself after the first call | hint: hook_never_ran
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad)
    handle.remove()


handle = model.W.register_hook(tensor_hook)
