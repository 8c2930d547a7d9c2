from torch.autograd.graph import register_multi_grad_hook


def watch_norm(model):
    norms = []
    parameters = [parameter for _, parameter in model.named_parameters() if parameter.requires_grad]

    def hook(grads):
        each = torch.stack([g.norm() for g in grads if g is not None])
        norms.append(each.norm().item())

    handle = register_multi_grad_hook(parameters, hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
