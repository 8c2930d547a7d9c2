# misconception: reads .grad before there is one | hint: reads_grad_early
def accumulate_in_float32(model):
    sums = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            sums[name] = p.grad.float()
            p.grad = None
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])
