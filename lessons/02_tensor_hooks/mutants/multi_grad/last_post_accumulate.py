# misconception: the sums in .grad, once the first parameter has its own | hint: norm_watch_adds_up
def watch_norm(model):
    norms = []
    parameters = list(model.parameters())

    def hook(parameter):
        norms.append(torch.cat([p.grad.flatten() for p in parameters if p.grad is not None]).norm())

    parameters[0].register_post_accumulate_grad_hook(hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
