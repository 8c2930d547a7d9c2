# misconception: gathers squares and never starts anew | hint: norm_watch_adds_up
def watch_norm(model):
    norms, squares = [], []

    def hook(grads):
        for grad in grads:
            if grad is not None:
                squares.append((grad**2).sum().item())
        norms.append(sum(squares) ** 0.5)

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
