def accumulate_in_float32(model):
    sums = {}
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        sums[name] = torch.zeros(p.shape)

        def hook(param, name=name):
            sums[name] += param.grad.float()
            param.grad = None

        p.register_post_accumulate_grad_hook(hook)
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])
