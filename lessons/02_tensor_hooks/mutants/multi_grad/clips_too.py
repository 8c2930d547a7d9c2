# misconception: scales the gradients on the way | hint: changes_gradient
def watch_norm(model):
    norms = []

    def hook(grads):
        there = [grad for grad in grads if grad is not None]
        total = torch.cat([grad.flatten() for grad in there]).norm()
        norms.append(total.item())
        for grad in there:
            grad.mul_(min(1.0, 1.0 / total.item()))

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
