def accumulate_in_float32(model):
    names = {p: n for n, p in model.named_parameters() if p.requires_grad}
    sums = {n: p.detach().float().mul(0) for p, n in names.items()}

    def hook(p):
        sums[names[p]].add_(p.grad)
        p.grad = None

    for p in names:
        p.register_post_accumulate_grad_hook(hook)
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])
