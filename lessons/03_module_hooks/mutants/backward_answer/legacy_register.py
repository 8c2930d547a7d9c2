# misconception: registers the deprecated hook | hint: legacy_hook
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input)
    answer.append(grad_output[0])


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    model.register_backward_hook(module_hook)
