# misconception: defines the hook and registers it nowhere | hint: hook_never_ran
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())

    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
