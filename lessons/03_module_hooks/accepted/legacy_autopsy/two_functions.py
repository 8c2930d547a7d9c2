answer = []
legacy_model, full_model = Model(), Model()


def legacy(module, grad_input, grad_output):
    answer.append(list(grad_input))


def full(module, grad_input, grad_output):
    answer.append([grad.clone() for grad in grad_input])


legacy_model.register_backward_hook(legacy)
full_model.register_full_backward_hook(full)
for model in (legacy_model, full_model):
    x1 = torch.tensor([2.0], requires_grad=True)
    x2 = torch.tensor([3.0], requires_grad=True)
    model(x1, x2).backward()
