# misconception: a plain hook on each parameter | hint: norm_watch_hook_for_each
def watch_norm(model):
    norms = []
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: norms.append(grad.norm()))
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
