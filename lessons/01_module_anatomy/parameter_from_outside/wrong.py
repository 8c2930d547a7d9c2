# nothing to break: Each optimizer here was given parameters without names, and takes another parameter group
# nothing to break: Training has begun

# %% adds_it_by_hook
# misconception: adds the offset by a hook as well | hint: offset_used_twice
# breaks: Leave `forward` and the model's output alone
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    model.register_forward_hook(lambda m, i, o: o + m.offset)

# %% all_in_the_group
# misconception: puts all parameters into the group again | hint: parameter_in_two_groups
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.param_groups[0]["params"].extend(model.parameters())

# %% all_parameters_again
# misconception: hands over all parameters again | hint: parameter_in_two_groups
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": model.parameters()})

# %% another_object
# misconception: the optimizer gets another object | hint: optimizer_does_not_know
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [Parameter(torch.zeros(size))]})

# %% assigned_again
# misconception: assigns another object after telling the optimizer | hint: optimizer_does_not_know
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    model.offset = Parameter(torch.zeros(size))

# %% buffer
# misconception: a buffer that needs a gradient | hint: unregistered_from_outside
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.register_buffer("offset", torch.zeros(size, requires_grad=True))
    optimizer.add_param_group({"params": [model.offset]})

# %% class_attribute
# misconception: set on the class | hint: unregistered_from_outside
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    offset = Parameter(torch.zeros(size))
    type(model).offset = offset
    optimizer.add_param_group({"params": [offset]})

# %% clone
# misconception: the optimizer gets a clone | hint: optimizer_does_not_know
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset.clone()]})

# %% column
# misconception: a column | hint: offset_shape
# breaks: shape `(size,)`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size, 1))
    optimizer.add_param_group({"params": [model.offset]})

# %% fixed_learning_rate
# misconception: a learning rate that was typed in | hint: anatomy_settings_typed_in
# breaks: with the settings that the optimizer was built with
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset], "lr": 0.1})

# %% fixed_size
# misconception: the size of the example | hint: sizes_of_example
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(2))
    optimizer.add_param_group({"params": [model.offset]})

# %% float64
# misconception: an offset of float64 | hint: anatomy_wrong_dtype
# breaks: `torch.float32`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size, dtype=torch.float64))
    optimizer.add_param_group({"params": [model.offset]})

# %% frozen
# misconception: the parameter needs no gradient | hint: gradient_cut
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size), requires_grad=False)
    optimizer.add_param_group({"params": [model.offset]})

# %% group_appended
# misconception: appends a group without settings | hint: anatomy_group_without_settings
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.param_groups.append({"params": [model.offset]})

# %% group_replaced
# misconception: replaces the parameters of the group | hint: group_replaced
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.param_groups[0]["params"] = [model.offset]

# %% list_for_group
# misconception: a list instead of a dict | hint: anatomy_group_in_another_form
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group([model.offset])

# %% momentum_forgotten
# misconception: empties the optimizer's state | hint: group_replaced
# breaks: the values, gradients, momentum
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    optimizer.state.clear()

# %% new_optimizer
# misconception: builds a new optimizer that nobody uses | hint: optimizer_does_not_know
# breaks: the given `optimizer`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

# %% no_momentum
# misconception: a group without momentum | hint: anatomy_settings_typed_in
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset], "momentum": 0.0})

# %% one_number
# misconception: one number for all outputs | hint: offset_shape
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(1))
    optimizer.add_param_group({"params": [model.offset]})

# %% ones
# misconception: starts with ones | hint: wrong_start
# breaks: zeros, shape `(size,)`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.ones(size))
    optimizer.add_param_group({"params": [model.offset]})

# %% optimizer_not_told
# misconception: the optimizer is not told | hint: optimizer_does_not_know
# breaks: From then on the given `optimizer` trains it too
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))

# %% optimizer_set_up_anew
# misconception: sets the optimizer up anew and loses the momentum | hint: group_replaced
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    settings = dict(optimizer.defaults)
    optimizer.__init__(model.parameters(), **settings)

# %% parameter_list
# misconception: keeps it in a ParameterList | hint: anatomy_other_names
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    offset = Parameter(torch.zeros(size))
    model.extra = nn.ParameterList([offset])
    optimizer.add_param_group({"params": [offset]})

# %% plain_tensor
# misconception: a plain tensor | hint: unregistered_from_outside
# breaks: It gives the model a new parameter `offset`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = torch.zeros(size, requires_grad=True)
    optimizer.add_param_group({"params": [model.offset]})

# %% private_register
# misconception: writes a tensor into the private register | hint: unregistered_from_outside
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model._parameters["offset"] = torch.zeros(size, requires_grad=True)
    optimizer.add_param_group({"params": [model.offset]})

# %% register_arguments_swapped
# misconception: the tensor before the name | hint: anatomy_register_arguments
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.register_parameter(Parameter(torch.zeros(size)), "offset")
    optimizer.add_param_group({"params": [model.offset]})

# %% state_dict_of_optimizer
# misconception: loads the old state into a new set-up | hint: group_replaced
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    state = optimizer.state_dict()
    optimizer.__init__(model.parameters(), **optimizer.defaults)
    optimizer.load_state_dict(state)

# %% steps
# misconception: makes a step | hint: anatomy_one_step_more
# breaks: as if nothing had happened
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    optimizer.step()

# %% unregistered_name
# misconception: registered under another name | hint: anatomy_other_names
# breaks: registered under that name
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.register_parameter("bias2", Parameter(torch.zeros(size)))
    optimizer.add_param_group({"params": [model.bias2]})

# %% wrapped_optimizer
# misconception: trains it in a hook, with a typed-in rate | hint: anatomy_settings_typed_in
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))

    def train(parameter):
        parameter.data.sub_(0.1 * parameter.grad)

    model.offset.register_post_accumulate_grad_hook(train)

# %% zeroes_gradients
# misconception: sets the gradients back | hint: anatomy_gradients_thrown_away
# breaks: the values, gradients, momentum
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    optimizer.zero_grad()

# %% appended_to_the_first_group
# misconception: joins the first group, with that group's settings | hint: anatomy_settings_of_a_group
# breaks: these are not meant for `offset`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    setattr(model, "offset", Parameter(torch.zeros(size)))
    optimizer.param_groups[0]["params"].append(model.offset)

# %% copies_the_first_group
# misconception: copies the settings of the first group | hint: anatomy_settings_of_a_group
# breaks: with the settings that the optimizer was built with
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    offset = Parameter(torch.zeros(size), requires_grad=True)
    model.offset = offset
    settings = {key: value for key, value in optimizer.param_groups[0].items() if key != "params"}
    optimizer.add_param_group({**settings, "params": [offset]})

# %% groups_rebuilt
# misconception: makes one new group of all parameters | hint: anatomy_groups_made_one
# breaks: and settings of all other parameters
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.param_groups.clear()
    optimizer.add_param_group({"params": model.parameters()})

# %% unfreezes
# misconception: makes everything trainable, and hands it over | hint: anatomy_changes_the_rest
# breaks: Everything else goes on as if nothing had happened
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    model.train().requires_grad_(True)
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    optimizer.add_param_group({"params": [p for p in model.parameters() if id(p) not in held]})

# %% found_by_its_name
# misconception: hands over whatever has offset in its name | hint: parameter_in_two_groups
# breaks: Write `add_offset(model, size, optimizer)` for any model
# breaks: registered under that name
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [p for name, p in model.named_parameters() if "offset" in name]})

# %% rate_of_the_last_group
# misconception: takes the learning rate of the last group | hint: anatomy_settings_typed_in
# breaks: these are not meant for `offset`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({'params': [model.offset], 'lr': optimizer.param_groups[-1]['lr']})

# %% unfreezes_for_good
# misconception: makes everything trainable, at the end | hint: anatomy_changes_the_rest
# breaks: Everything else goes on as if nothing had happened
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({'params': [model.offset]})
    for p in model.parameters():
        p.requires_grad_(True)

# %% puts_into_eval
# misconception: puts the model into eval mode | hint: anatomy_changes_the_rest
# breaks: Everything else goes on as if nothing had happened
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({'params': [model.offset]})
    model.eval()

# %% clears_hooks
# misconception: takes hooks away | hint: anatomy_changes_the_rest
# breaks: Everything else goes on as if nothing had happened
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({'params': [model.offset]})
    for m in model.modules():
        m._forward_hooks.clear()

# %% dtype_of_the_model
# misconception: takes the dtype of the model's parameters | hint: anatomy_wrong_dtype
# breaks: `torch.float32`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    dtype = next((p.dtype for p in model.parameters()), torch.float32)
    model.offset = Parameter(torch.zeros(size, dtype=dtype))
    optimizer.add_param_group({"params": [model.offset]})

# %% joins_the_only_group
# misconception: joins the group, if there is only one | hint: anatomy_settings_of_a_group
# breaks: Its parameter groups may have settings of their own
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    if len(optimizer.param_groups) == 1:
        optimizer.param_groups[0]["params"].append(model.offset)
    else:
        optimizer.add_param_group({"params": [model.offset]})

# %% rate_of_the_only_group
# misconception: takes the rate of the group as it is now, if there is only one | hint: anatomy_settings_of_a_group
# breaks: with the settings that the optimizer was built with
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    settings = dict(optimizer.defaults)
    if len(optimizer.param_groups) == 1:
        settings["lr"] = optimizer.param_groups[0]["lr"]
    optimizer.add_param_group({**settings, "params": [model.offset]})

# %% all_that_is_not_held
# misconception: hands over all that the optimizer does not hold yet | hint: anatomy_changes_the_rest
# breaks: it may hold a part of the model only
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    optimizer.add_param_group({"params": [p for p in model.parameters() if id(p) not in held]})

# %% defaults_as_a_group
# misconception: makes the optimizer's settings themselves the new group | hint: optimizer_does_not_know
# breaks: the given `optimizer` trains it too
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    group = optimizer.defaults
    group["params"] = [model.offset]
    optimizer.param_groups.append(group)

# %% once_for_each_optimizer
# misconception: tells the optimizer once, whatever the model | hint: optimizer_does_not_know
# breaks: Write `add_offset(model, size, optimizer)` for any model
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    if not getattr(optimizer, "has_offset", False):
        optimizer.add_param_group({"params": [model.offset]})
        optimizer.has_offset = True

# %% unfreezes_what_is_held
# misconception: makes all trainable that the optimizer holds | hint: anatomy_changes_the_rest
# breaks: Everything else goes on as if nothing had happened
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.requires_grad_()

# %% frozen_like_the_model
# misconception: the offset is frozen if the model is | hint: optimizer_does_not_know
# breaks: Write `add_offset(model, size, optimizer)` for any model
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    trainable = any(p.requires_grad for p in model.parameters())
    model.offset = Parameter(torch.zeros(size), requires_grad=trainable)
    optimizer.add_param_group({"params": [model.offset]})

# %% asks_the_first_parameter
# misconception: expects that every model has a parameter | hint: none
# breaks: Write `add_offset(model, size, optimizer)` for any model
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    device = next(model.parameters()).device
    model.offset = Parameter(torch.zeros(size, device=device))
    optimizer.add_param_group({"params": [model.offset]})

# %% the_new_group_first
# misconception: puts the new group in front of the others | hint: anatomy_changes_the_rest
# breaks: which stay in their groups, in their order
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    optimizer.param_groups.insert(0, optimizer.param_groups.pop())

# %% momentum_of_the_example
# misconception: a momentum that was typed in | hint: anatomy_settings_typed_in
# breaks: with the settings that the optimizer was built with
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset], "lr": optimizer.defaults["lr"], "momentum": 0.9})

# %% squeezed
# misconception: makes a row of a table and squeezes it | hint: offset_shape
# breaks: zeros, shape `(size,)`, `torch.float32`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(1, size).squeeze())
    optimizer.add_param_group({"params": [model.offset]})

# %% settings_of_the_last_group
# misconception: copies the settings of the last group | hint: anatomy_settings_of_a_group
# breaks: and these are not meant for `offset`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({**optimizer.param_groups[-1], "params": [model.offset]})

# %% groups_of_a_new_optimizer
# misconception: puts the groups of a new optimizer into the old one | hint: group_replaced
# breaks: settings of all other parameters
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    new = type(optimizer)(model.parameters(), **optimizer.defaults)
    optimizer.param_groups = new.param_groups

# %% momentum_by_hand
# misconception: prepares by hand what one kind of optimizer remembers | hint: anatomy_settings_typed_in
# breaks: the given `optimizer` trains it too
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    optimizer.state[model.offset] = {"momentum_buffer": torch.zeros(size)}

# %% in_a_parameter_list
# misconception: keeps the parameter in a ParameterList | hint: anatomy_other_names
# breaks: registered under that name
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = nn.ParameterList([torch.zeros(size)])
    optimizer.add_param_group({"params": model.offset.parameters()})

# %% rate_before_the_schedule
# misconception: takes the rate with which the first group began for the optimizer's | hint: anatomy_settings_of_a_group
# breaks: and these are not meant for `offset`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    rate = optimizer.param_groups[0].get("initial_lr", optimizer.defaults["lr"])
    optimizer.add_param_group({"params": [model.offset], "lr": rate})
