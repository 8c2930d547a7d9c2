# misconception: also doubles the gradients | hint: watcher_changes_gradient
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input)
    answer.append(grad_output[0])
    return tuple(grad * 2 for grad in grad_input)


model.register_full_backward_hook(module_hook)
