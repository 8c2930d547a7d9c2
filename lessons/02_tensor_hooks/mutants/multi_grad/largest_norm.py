# misconception: the largest of the norms | hint: norm_watch_one_parameter
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(max(grad.norm().item() for grad in grads if grad is not None))

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
