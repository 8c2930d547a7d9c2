# %% comprehension
model = Model()


def module_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    return tuple(grad / total for grad in grad_input)


model.register_full_backward_hook(module_hook)

# %% in_place_with_a_kept_sum
model = Model()


def module_hook(module, grad_input, grad_output):
    total = grad_input[0] + grad_input[1]
    for grad in grad_input:
        grad.div_(total)


model.register_full_backward_hook(module_hook)

# %% a_small_number_below
model = Model()


def module_hook(module, grad_input, grad_output):
    total = grad_input[0] + grad_input[1] + 1e-8
    return grad_input[0] / total, grad_input[1] / total


model.register_full_backward_hook(module_hook)

# %% registered_twice
model = Model()


def module_hook(module, grad_input, grad_output):
    return grad_input[0] / (grad_input[0] + grad_input[1]), grad_input[1] / (grad_input[0] + grad_input[1])


model.register_full_backward_hook(module_hook)
model.register_full_backward_hook(module_hook)

# %% shares_by_difference
model = Model()


def module_hook(module, grad_input, grad_output):
    first = 1 / (1 + grad_input[1] / grad_input[0])
    return first, 1 - first


model.register_full_backward_hook(module_hook)

# %% a_list_of_two
model = Model()


def module_hook(module, grad_input, grad_output):
    total = sum(grad_input)
    return [grad / total for grad in grad_input]


model.register_full_backward_hook(module_hook)
