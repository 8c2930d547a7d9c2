# misconception: lets clip_grad_norm_ tell the norm, in the hook | hint: norm_watch_reads_grad
def watch_norm(model):
    norms = []
    parameters = list(model.parameters())

    def hook(grads):
        norms.append(nn.utils.clip_grad_norm_(parameters, float("inf")))

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
