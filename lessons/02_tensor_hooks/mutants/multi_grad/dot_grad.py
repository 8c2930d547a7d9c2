# misconception: reads .grad of the parameters in the hook | hint: norm_watch_reads_grad
def watch_norm(model):
    norms = []
    parameters = list(model.parameters())

    def hook(grads):
        norms.append(torch.cat([parameter.grad.flatten() for parameter in parameters]).norm())

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
