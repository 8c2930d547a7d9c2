def accumulate_in_float32(model: nn.Module) -> dict:
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    sums = {name: torch.zeros_like(p, dtype=torch.float) for name, p in trainable.items()}

    def make_hook(name):
        def hook(p):
            sums[name] = sums[name] + p.grad.to(torch.float32)
            del p.grad
            return p

        return hook

    for name, p in trainable.items():
        p.register_post_accumulate_grad_hook(make_hook(name))
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])
