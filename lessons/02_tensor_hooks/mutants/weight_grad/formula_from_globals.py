# misconception: computes the gradient from the notebook's tensors | hint: reads_globals
model = Model()
answer = []


x1 = torch.rand(1)
x2 = torch.rand(1)


def tensor_hook(grad):
    answer.append((x1 * x2).sum().reshape(1))


model.W.register_hook(tensor_hook)
