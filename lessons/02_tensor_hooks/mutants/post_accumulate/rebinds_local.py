# misconception: adds to a local name | hint: float32_sums_other_tensor
def accumulate_in_float32(model):
    sums = {}

    def hook(total, parameter):
        total = total + parameter.grad.float()
        parameter.grad = None

    for name, p in model.named_parameters():
        if p.requires_grad:
            sums[name] = torch.zeros_like(p, dtype=torch.float32)
            p.register_post_accumulate_grad_hook(partial(hook, sums[name]))
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])
