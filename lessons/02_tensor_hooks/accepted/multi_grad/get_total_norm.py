class NormWatcher:
    def __init__(self):
        self.norms = []

    def __call__(self, grads):
        self.norms.append(nn.utils.get_total_norm([grad for grad in grads if grad is not None]))


def watch_norm(model):
    watcher = NormWatcher()
    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), watcher)
    return watcher.norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
