# misconception: plain hooks that wait until every parameter has come by | hint: norm_watch_waits_for_all
def watch_norm(model):
    norms, squares = [], []
    count = len(list(model.parameters()))

    def hook(grad):
        squares.append((grad**2).sum().item())
        if len(squares) == count:
            norms.append(sum(squares) ** 0.5)
            squares.clear()

    for parameter in model.parameters():
        parameter.register_hook(hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)
