import math


def watch_norm(model: nn.Module) -> list:
    norms = []

    def add(grads):
        total = 0.0
        for grad in grads:
            if grad is None:
                continue
            total += float(grad.pow(2).sum())
        norms.append(math.sqrt(total))

    torch.autograd.graph.register_multi_grad_hook([*model.parameters()], add, mode="all")
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
