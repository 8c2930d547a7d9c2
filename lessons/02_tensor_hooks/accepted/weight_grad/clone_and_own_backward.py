model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad.detach().clone())


model.W.register_hook(tensor_hook)

x1 = torch.rand(1, requires_grad=True)
x2 = torch.rand(1, requires_grad=True)
output = model(x1, x2)
output.retain_grad()
output.backward()
print(answer == [model.W.grad])
