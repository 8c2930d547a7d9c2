# nothing to break: Training has begun, without a learning-rate scheduler.
# nothing to break: Write `add_offset(model, size, optimizer)`.

# %% adds_it_by_hook
# misconception: adds the offset by a hook as well | hint: offset_used_twice
# breaks: the check itself adds `model.offset` to the output
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    model.register_forward_hook(lambda m, i, o: o + m.offset)

# %% appended_to_the_first_group
# misconception: joins the first group, with that group's settings | hint: anatomy_settings_of_a_group
# breaks: with the settings that the optimizer was built with
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    setattr(model, "offset", Parameter(torch.zeros(size)))
    optimizer.param_groups[0]["params"].append(model.offset)

# %% assigned_again
# misconception: assigns another object after telling the optimizer | hint: optimizer_does_not_know
# edits: adds_it_by_hook
-    model.register_forward_hook(lambda m, i, o: o + m.offset)
+    model.offset = Parameter(torch.zeros(size))

# %% buffer
# misconception: a buffer that needs a gradient | hint: unregistered_from_outside
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.register_buffer("offset", torch.zeros(size, requires_grad=True))
    optimizer.add_param_group({"params": [model.offset]})

# %% column
# misconception: a column | hint: offset_shape
# breaks: zeros of shape `(size,)`
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size, 1))
    optimizer.add_param_group({"params": [model.offset]})

# %% copies_the_first_group
# misconception: copies the settings of the first group | hint: anatomy_settings_of_a_group
# breaks: with the settings that the optimizer was built with
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    offset = Parameter(torch.zeros(size), requires_grad=True)
    model.offset = offset
    settings = {key: value for key, value in optimizer.param_groups[0].items() if key != "params"}
    optimizer.add_param_group({**settings, "params": [offset]})

# %% fixed_size
# misconception: the size of the example | hint: sizes_of_example
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(2))
    optimizer.add_param_group({"params": [model.offset]})

# %% frozen
# misconception: the parameter needs no gradient | hint: anatomy_frozen_parameter
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size), requires_grad=False)
    optimizer.add_param_group({"params": [model.offset]})

# %% momentum_forgotten
# misconception: empties the optimizer's state | hint: group_replaced | canary
# breaks: with their gradients, momentum and settings
# edits: adds_it_by_hook
-    model.register_forward_hook(lambda m, i, o: o + m.offset)
+    optimizer.state.clear()

# %% one_number
# misconception: one number for all outputs | hint: offset_shape
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(1))
    optimizer.add_param_group({"params": [model.offset]})

# %% ones
# misconception: starts with ones | hint: wrong_start
# breaks: zeros
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.ones(size))
    optimizer.add_param_group({"params": [model.offset]})

# %% optimizer_not_told
# misconception: the optimizer is not told | hint: optimizer_does_not_know
# breaks: `optimizer` trains it
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = Parameter(torch.zeros(size))

# %% all_parameters_again
# misconception: hands over all parameters again | hint: parameter_in_two_groups
# edits: optimizer_not_told
+    optimizer.add_param_group({"params": model.parameters()})

# %% all_in_the_group
# misconception: puts all parameters into the group again | hint: parameter_in_two_groups
# edits: optimizer_not_told
+    optimizer.param_groups[0]["params"].extend(model.parameters())

# %% another_object
# misconception: the optimizer gets another object | hint: optimizer_does_not_know
# edits: optimizer_not_told
+    optimizer.add_param_group({"params": [Parameter(torch.zeros(size))]})

# %% clone
# misconception: the optimizer gets a clone | hint: optimizer_does_not_know
# edits: optimizer_not_told
+    optimizer.add_param_group({"params": [model.offset.clone()]})

# %% fixed_learning_rate
# misconception: a learning rate that was typed in | hint: anatomy_settings_typed_in
# breaks: with the settings that the optimizer was built with
# edits: optimizer_not_told
+    optimizer.add_param_group({"params": [model.offset], "lr": 0.1})

# %% group_appended
# misconception: appends a group without settings | hint: anatomy_group_without_settings
# edits: optimizer_not_told
+    optimizer.param_groups.append({"params": [model.offset]})

# %% group_replaced
# misconception: replaces the parameters of the group | hint: group_replaced
# breaks: as if nothing had happened
# edits: optimizer_not_told
+    optimizer.param_groups[0]["params"] = [model.offset]

# %% groups_rebuilt
# misconception: makes one new group of all parameters | hint: anatomy_groups_made_one
# breaks: with their gradients, momentum and settings
# edits: all_parameters_again
+    optimizer.param_groups.clear()
     optimizer.add_param_group({"params": model.parameters()})

# %% new_optimizer
# misconception: builds a new optimizer that nobody uses | hint: optimizer_does_not_know
# edits: optimizer_not_told
+    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

# %% no_momentum
# misconception: a group without momentum | hint: anatomy_settings_typed_in
# edits: optimizer_not_told
+    optimizer.add_param_group({"params": [model.offset], "momentum": 0.0})

# %% optimizer_set_up_anew
# misconception: sets the optimizer up anew and loses the momentum | hint: group_replaced
# edits: optimizer_not_told
+    settings = dict(optimizer.defaults)
+    optimizer.__init__(model.parameters(), **settings)

# %% plain_tensor
# misconception: a plain tensor | hint: unregistered_from_outside
# breaks: gives the model a parameter
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    model.offset = torch.zeros(size, requires_grad=True)
    optimizer.add_param_group({"params": [model.offset]})

# %% state_dict_of_optimizer
# misconception: loads the old state into a new set-up | hint: group_replaced
# edits: optimizer_not_told
+    state = optimizer.state_dict()
+    optimizer.__init__(model.parameters(), **optimizer.defaults)
+    optimizer.load_state_dict(state)

# %% steps
# misconception: makes a step | hint: anatomy_one_step_more
# breaks: as if nothing had happened
# edits: adds_it_by_hook
-    model.register_forward_hook(lambda m, i, o: o + m.offset)
+    optimizer.step()

# %% unregistered_name
# misconception: registered under another name | hint: anatomy_other_names
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
# breaks: with their gradients
# edits: adds_it_by_hook
-    model.register_forward_hook(lambda m, i, o: o + m.offset)
+    optimizer.zero_grad()
