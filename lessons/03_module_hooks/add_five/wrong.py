# %% appends_only
# misconception: prints the sum and returns nothing | hint: rebinds_output
add = Add()


def hook(module, args, output):
    print(output + 5)


add.register_forward_hook(hook)

# %% backward_hook
# misconception: a backward hook, whose return value is for gradients | hint: hook_never_ran
add = Add()


def hook(module, grad_input, grad_output):
    return tuple(grad + 5 for grad in grad_input)


add.register_full_backward_hook(hook)

# %% both_inputs_by_pre_hook
# misconception: adds 5 to both inputs | hint: five_to_an_input
add = Add()


def hook(module, args):
    return tuple(value + 5 for value in args)


add.register_forward_pre_hook(hook)

# %% changes_inputs_after_forward
# misconception: changes an input in place when forward is over | hint: five_to_an_input
# breaks: nor touches the inputs
add = Add()


def hook(module, args, output):
    args[0].add_(5)


add.register_forward_hook(hook)

# %% first_input_by_pre_hook
# misconception: adds 5 to the first input | hint: five_to_an_input
add = Add()


def hook(module, args):
    x1, x2 = args
    return x1 + 5, x2


add.register_forward_pre_hook(hook)

# %% input_in_place_before
# misconception: changes the caller's input in place | hint: five_to_an_input
add = Add()


def hook(module, args):
    args[1].add_(5)


add.register_forward_pre_hook(hook)

# %% moves_the_name
# misconception: gives the name another value and returns nothing | hint: rebinds_output
add = Add()


def hook(module, args, output):
    output = output + 5


add.register_forward_hook(hook)

# %% not_registered
# misconception: never registers the hook | hint: nothing_registered
# breaks: register it on `add`
add = Add()


def hook(module, args, output):
    return output + 5

# %% one_input_for_two
# misconception: a pre-hook that returns one tensor | hint: drops_argument
add = Add()


def hook(module, args):
    return args[0] + 5


add.register_forward_pre_hook(hook)

# %% reads_globals
# misconception: adds to the notebook's tensors | hint: reads_globals
add = Add()


x1, x2 = torch.rand(1), torch.rand(1)


def hook(module, args, output):
    return x1 + x2 + 5 + 0 * output


add.register_forward_hook(hook)

# %% registered_twice
# misconception: the register line ran twice | hint: module_hook_twice
add = Add()


def hook(module, args, output):
    return output + 5


add.register_forward_hook(hook)
add.register_forward_hook(hook)

# %% returns_a_tuple
# misconception: returns a tuple | hint: tuple_for_output
add = Add()


def hook(module, args, output):
    return (output + 5,)


add.register_forward_hook(hook)

# %% returns_five
# misconception: returns 5 alone | hint: returns_only_five
# breaks: adds 5 to whatever value `forward` has returned
add = Add()


def hook(module, args, output):
    return torch.tensor([5.0])


add.register_forward_hook(hook)

# %% runs_forward_again
# misconception: runs forward a second time | hint: recomputes_output
add = Add()


def hook(module, args, output):
    return module.forward(*args) + 5


add.register_forward_hook(hook)

# %% sums_the_inputs
# misconception: computes the sum again | hint: recomputes_output
# breaks: neither computes that value again
add = Add()


def hook(module, args, output):
    return args[0] + args[1] + 5


add.register_forward_hook(hook)

# %% two_arguments
# misconception: a forward hook of two arguments | hint: hook_arguments
add = Add()


def hook(module, output):
    output += 5


add.register_forward_hook(hook)

# %% once
# misconception: a hook that removes itself after the first call | hint: runs_only_once
# breaks: each call of `add(x1, x2)` returns 5 more than before
add = Add()


def hook(module, args, output):
    handle.remove()
    return output + 5


handle = add.register_forward_hook(hook)

# %% ones_of_the_default_dtype
# misconception: adds ones of the default dtype, which turn half precision into float32 | hint: five_loses_digits
# breaks: An output of floating-point numbers keeps its dtype
add = Add()


def hook(module, args, output):
    return output + 5 * torch.ones(output.shape)


add.register_forward_hook(hook)

# %% tensor_from_numbers
# misconception: builds the result anew from numbers, which loses the dtype | hint: five_loses_digits
add = Add()


def hook(module, args, output):
    return torch.tensor(output.tolist()) + 5


add.register_forward_hook(hook)

# %% inplace
# misconception: output += 5 changes the input if forward hands it through | hint: five_written_into
add = Add()


def hook(module, args, output):
    output += 5


add.register_forward_hook(hook)

# %% inplace_data
# misconception: output.data is the input's memory | hint: five_written_into
# breaks: It returns a new tensor
add = Add()


def hook(module, args, output):
    output.data.add_(5)
    return output


add.register_forward_hook(hook)

# %% detach
# misconception: the gradient is gone | hint: cut_from_its_inputs
# breaks: gradients flow on as before
add = Add()


def hook(module, args, output):
    return output.detach() + 5


add.register_forward_hook(hook)

# %% shape1
# misconception: a scalar becomes a vector of one | hint: hook_changes_shape
add = Add()


def hook(module, args, output):
    return output + torch.tensor([5.0], dtype=output.dtype)


add.register_forward_hook(hook)

# %% fives_like_x1
# misconception: shape of x1, not of the output | hint: hook_changes_shape
add = Add()


def hook(module, args, output):
    return output + torch.full_like(args[0], 5)


add.register_forward_hook(hook)

# %% truthy
# misconception: zeros stay zeros | hint: value_taken_for_nothing
add = Add()


def hook(module, args, output):
    if output.any():
        return output + 5


add.register_forward_hook(hook)

# %% training
# misconception: not in eval mode | hint: only_in_training
add = Add()


def hook(module, args, output):
    return output + 5 * module.training


add.register_forward_hook(hook)

# %% buffer
# misconception: an earlier result changes with the next call | hint: cut_from_its_inputs
add = Add()
buf = {}


def hook(module, args, output):
    key = output.shape, output.dtype
    if key not in buf:
        buf[key] = torch.empty_like(output)
    return buf[key].copy_(output.detach() + 5)


add.register_forward_hook(hook)

# %% no_grad_data
# misconception: writes into the memory of the output | hint: five_written_into
add = Add()


def hook(module, args, output):
    with torch.no_grad():
        output.data += torch.tensor([5.0])


add.register_forward_hook(hook)

# %% copies_an_input_only
# misconception: copies the output where it is an input, not where it is a view of one | hint: five_written_into
# breaks: It returns a new tensor, for a `forward` may hand an input through
add = Add()


def hook(module, args, output):
    if any(output is x for x in args):
        output = output.clone()
    output += 5
    return output


add.register_forward_hook(hook)

# %% asks_for_a_gradient
# misconception: the result requires a gradient, whatever came in | hint: five_asks_for_gradient
# breaks: an output that is made of data alone still requires no gradient
add = Add()


def hook(module, args, output):
    return (output + 5).requires_grad_()


add.register_forward_hook(hook)

# %% learnable_five
# misconception: the 5 is a parameter | hint: five_asks_for_gradient
add = Add()
five = Parameter(torch.tensor(5.0))


def hook(module, args, output):
    return output + five


add.register_forward_hook(hook)

# %% only_with_gradients
# misconception: adds nothing under no_grad | hint: only_in_training
# breaks: each call of `add(x1, x2)` returns 5 more than before
add = Add()


def hook(module, args, output):
    if torch.is_grad_enabled():
        return output + 5


add.register_forward_hook(hook)

# %% cleans_the_output
# misconception: takes nan and inf out on the way | hint: value_taken_for_nothing
# breaks: The hook adds 5 to whatever value `forward` has returned
add = Add()


def hook(module, args, output):
    return torch.nan_to_num(output) + 5


add.register_forward_hook(hook)

# %% detaches_what_is_handed_through
# misconception: copies what is an input, or a view of one, and cuts it off with detach | hint: cut_from_its_inputs
# breaks: gradients flow on as before
add = Add()


def hook(module, args, output):
    if any(output is x or output._base is x for x in args):
        output = output.detach().clone()
    return output + 5


add.register_forward_hook(hook)

# %% calls_the_module_again
# misconception: calls the module in its own hook, which calls the hook again | hint: recomputes_output
# breaks: it neither computes that value again
add = Add()


def hook(module, args, output):
    return module(*args) + 5


add.register_forward_hook(hook)
