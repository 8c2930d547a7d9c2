# misconception: believes that grad_input holds the weight's gradient | hint: autopsy_weight_gradient
answer = []
legacy_model, full_model = Model(), Model()


def collect(module, grad_input, grad_output):
    answer.append((*grad_input, module.W.grad))


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    legacy_model.register_backward_hook(collect)
    full_model.register_full_backward_hook(collect)
    for model in (legacy_model, full_model):
        x1 = torch.tensor([2.0], requires_grad=True)
        x2 = torch.tensor([3.0], requires_grad=True)
        model(x1, x2).backward()
