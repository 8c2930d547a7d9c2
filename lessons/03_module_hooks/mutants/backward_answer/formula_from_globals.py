# misconception: product rule on the notebook's tensors | hint: reads_globals
model = Model()
answer = []


x1, x2 = torch.rand(1), torch.rand(1)


def module_hook(module, grad_input, grad_output):
    g = grad_output[0]
    answer.extend([g * x2 * module.W.detach(), g * x1 * module.W.detach(), g])


model.register_full_backward_hook(module_hook)
