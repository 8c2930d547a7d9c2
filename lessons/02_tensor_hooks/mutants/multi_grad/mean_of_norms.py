# misconception: the mean of the norms | hint: norm_watch_sum_of_norms
def watch_norm(model):
    norms = []

    def hook(grads):
        each = [grad.norm().item() for grad in grads if grad is not None]
        norms.append(sum(each) / len(each))

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
