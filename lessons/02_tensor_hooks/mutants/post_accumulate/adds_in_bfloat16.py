# misconception: converts after the addition | hint: float32_sums_rounded
def accumulate_in_float32(model):
    sums, halves = {}, {}

    def hook(name, parameter):
        halves[name] += parameter.grad
        sums[name] = halves[name].float()
        parameter.grad = None

    for name, p in model.named_parameters():
        if p.requires_grad:
            sums[name] = torch.zeros_like(p, dtype=torch.float32)
            halves[name] = torch.zeros_like(p)
            p.register_post_accumulate_grad_hook(partial(hook, name))
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])
