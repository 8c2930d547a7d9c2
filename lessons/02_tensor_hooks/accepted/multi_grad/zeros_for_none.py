def watch_norm(model):
    norms = []
    parameters = list(model.parameters())

    def hook(grads):
        filled = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, grads)]
        norms.append(torch.sqrt(sum(torch.sum(g * g) for g in filled)).detach())

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
