# misconception: only if the list is empty | hint: runs_only_once
model = Model()
answer = []


def tensor_hook(grad):
    if not answer:
        answer.append(grad)


model.W.register_hook(tensor_hook)
