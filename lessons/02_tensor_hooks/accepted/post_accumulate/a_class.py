class Accumulator:
    def __init__(self, parameter):
        self.total = torch.zeros(parameter.size(), dtype=torch.float32, device=parameter.device)
        self.handle = parameter.register_post_accumulate_grad_hook(self)

    def __call__(self, parameter):
        with torch.no_grad():
            self.total += parameter.grad
        parameter.grad = None


def accumulate_in_float32(model):
    return {name: Accumulator(p).total for name, p in model.named_parameters() if p.requires_grad}


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums, "  .grad:", [parameter.grad for parameter in layer.parameters()])
