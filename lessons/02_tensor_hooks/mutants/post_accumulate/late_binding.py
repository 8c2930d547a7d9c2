# misconception: the hooks look the loop variable up when they run | hint: fan_out_loop_variable
def accumulate_in_float32(model):
    sums = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            sums[name] = torch.zeros_like(p, dtype=torch.float32)

            def hook(parameter):
                sums[name] += parameter.grad.float()
                parameter.grad = None

            p.register_post_accumulate_grad_hook(hook)
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])
