def watch_norm(model):
    norms = []

    def hook(grads):
        flat = [grad.reshape(-1) for grad in grads if grad is not None]
        norms.append(torch.linalg.vector_norm(torch.cat(flat)))

    torch.autograd.graph.register_multi_grad_hook(tuple(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
