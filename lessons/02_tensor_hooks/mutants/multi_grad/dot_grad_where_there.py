# misconception: reads .grad where there is one | hint: norm_watch_reads_grad
def watch_norm(model):
    norms = []
    parameters = list(model.parameters())

    def hook(grads):
        there = [parameter.grad.flatten() for parameter in parameters if parameter.grad is not None]
        norms.append(torch.cat(there).norm())

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
