# misconception: adds .grad at once, where there is one | hint: float32_sums_no_hook
def accumulate_in_float32(model):
    sums = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            sums[name] = torch.zeros_like(p, dtype=torch.float32)
            if p.grad is not None:
                sums[name] += p.grad.float()
                p.grad = None
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])
