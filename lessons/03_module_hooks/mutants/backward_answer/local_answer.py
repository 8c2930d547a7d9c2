# misconception: assigns to a local answer | hint: stores_nothing
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer = [*grad_input, *grad_output]


model.register_full_backward_hook(module_hook)
