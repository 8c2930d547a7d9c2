# misconception: takes the argument for one gradient | hint: norm_watch_gets_a_list
def watch_norm(model):
    norms = []
    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), lambda grad: norms.append(grad.norm()))
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
