# misconception: reads x.grad after two passes through the same tensors | hint: adds_up_gradients
answer = []
legacy_model, full_model = Model(), Model()


def collect(module, grad_input, grad_output):
    answer.append(grad_input)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    legacy_model.register_backward_hook(collect)
    x1 = torch.tensor([2.0], requires_grad=True)
    x2 = torch.tensor([3.0], requires_grad=True)
    for model in (legacy_model, full_model):
        model(x1, x2).backward()
answer.append((x1.grad, x2.grad))
