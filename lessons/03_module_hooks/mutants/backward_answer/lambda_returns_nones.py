# misconception: a lambda whose tuple of None replaces the gradients | hint: watcher_changes_gradient
model = Model()
answer = []


module_hook = lambda module, grad_input, grad_output: (answer.extend(grad_input), answer.extend(grad_output))

model.register_full_backward_hook(module_hook)
