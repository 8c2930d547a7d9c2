# misconception: the full hook on the model that has the deprecated one | hint: one_report_only
answer = []
legacy_model = Model()


def collect(module, grad_input, grad_output):
    answer.append(grad_input)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    legacy_model.register_backward_hook(collect)
    x1 = torch.tensor([2.0], requires_grad=True)
    x2 = torch.tensor([3.0], requires_grad=True)
    legacy_model(x1, x2).backward()
    legacy_model.register_full_backward_hook(collect)
    legacy_model(x1, x2).backward()
