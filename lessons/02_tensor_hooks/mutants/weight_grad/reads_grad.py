# misconception: reads .grad inside the hook | hint: reads_grad_early
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(model.W.grad)


model.W.register_hook(tensor_hook)
