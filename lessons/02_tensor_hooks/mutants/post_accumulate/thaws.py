# misconception: makes every parameter need a gradient | hint: float32_sums_frozen
def accumulate_in_float32(model):
    sums = {}
    model.requires_grad_()

    def hook(name, parameter):
        sums[name] += parameter.grad.float()
        parameter.grad = None

    for name, p in model.named_parameters():
        sums[name] = torch.zeros_like(p, dtype=torch.float32)
        p.register_post_accumulate_grad_hook(partial(hook, name))
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])
