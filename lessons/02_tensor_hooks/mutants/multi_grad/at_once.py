# misconception: computes the norm at once, from .grad | hint: norm_watch_reads_grad
def watch_norm(model):
    norms = []
    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
