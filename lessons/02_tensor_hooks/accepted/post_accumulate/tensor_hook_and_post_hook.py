def accumulate_in_float32(model):
    sums = {}

    def add(total, grad):
        total += grad.float()

    def empty(parameter):
        parameter.grad = None

    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            sums[name] = torch.zeros(*parameter.shape, dtype=torch.float32)
            parameter.register_hook(partial(add, sums[name]))
            parameter.register_post_accumulate_grad_hook(empty)
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])
