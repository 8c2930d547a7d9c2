# misconception: a hook on the parameter that gets its gradient last | hint: norm_watch_one_parameter
def watch_norm(model):
    norms = []
    first = next(model.parameters())
    first.register_hook(lambda grad: norms.append(grad.norm()))
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
