# nothing to break: You may rely on this: no two parameters lie in the same memory, none is empty, and `new` returns no tensor that lies in the memory of a parameter.
# nothing to break: But while your function runs, `new` does not change a tensor that it has returned.
# nothing to break: An optimizer, some hooks and perhaps other people hold the parameters of `model`.

# %% adds
# misconception: adds the new values to the old ones | hint: depends_on_old_value
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter += new(parameter)

# %% apply_visits_twice
# misconception: forgets that apply visits a layer once for each path to it | hint: new_asked_twice
# breaks: is called once for each parameter
def init_in_place(model, new):
    @torch.no_grad()
    def visit(module):
        for parameter in module.parameters(recurse=False):
            parameter.copy_(new(parameter))

    model.apply(visit)

# %% asks_for_the_shape
# misconception: calls new once to look, and once more to copy | hint: new_asked_twice
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        if new(parameter).shape == parameter.shape:
            parameter.copy_(new(parameter))

# %% assign
# misconception: loads with assign=True | hint: parameter_replaced
def init_in_place(model, new):
    state = {name: new(parameter) for name, parameter in model.named_parameters()}
    model.load_state_dict(state, strict=False, assign=True)

# %% children_only
# misconception: the model and its direct children | hint: new_values_for_some
@torch.no_grad()
def init_in_place(model, new):
    for module in (model, *model.children()):
        for parameter in module.parameters(recurse=False):
            parameter.copy_(new(parameter))

# %% copies_from
# misconception: copies into what new returns | hint: new_values_rebound
def init_in_place(model, new):
    with torch.no_grad():
        for parameter in model.parameters():
            new(parameter).copy_(parameter)

# %% data_assigned
# misconception: hands the tensor to .data | hint: memory_shared
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.data = new(parameter)

# %% data_cloned
# misconception: takes over the dtype with .data | hint: dtype_taken_over
# breaks: with its hooks and its optimizer
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.data = new(parameter).clone()

# %% data_to_dtype
# misconception: hands the tensor to .data, in the right dtype | hint: memory_shared
# breaks: What `new` returns may be used again
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.data = new(parameter).to(parameter.dtype)

# %% fills_with_first
# misconception: fills with one number | hint: one_number_for_tensor
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.fill_(new(parameter).mean())

# %% linear_only
# misconception: looks for linear layers | hint: not_only_weight_and_bias
@torch.no_grad()
def init_in_place(model, new):
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.weight.copy_(new(module.weight))
            if module.bias is not None:
                module.bias.copy_(new(module.bias))

# %% no_no_grad
# misconception: writes in place while autograd records | hint: leaf_in_place
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.copy_(new(parameter))

# %% ones
# misconception: always writes ones | hint: new_values_ignored
# breaks: takes the **values** of the tensor `new(p)`
def init_in_place(model, new):
    for parameter in model.parameters():
        nn.init.ones_(parameter)

# %% out_of_place
# misconception: an operation that is not in place | hint: new_values_rebound
def init_in_place(model, new):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul(0).add(new(parameter))

# %% own_level
# misconception: the model's own parameters only | hint: new_values_for_some
# breaks: every parameter `p` of the model, at any depth
def init_in_place(model, new):
    with torch.no_grad():
        for parameter in model.parameters(recurse=False):
            parameter.copy_(new(parameter))

# %% parameters_dict
# misconception: writes a new Parameter into the register | hint: parameter_replaced
def init_in_place(model, new):
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[name] = nn.Parameter(new(parameter))

# %% plain_tensors
# misconception: puts plain tensors in the place of parameters | hint: tensor_in_parameters
def init_in_place(model, new):
    def visit(module):
        for name, parameter in list(module.named_parameters(recurse=False)):
            delattr(module, name)
            setattr(module, name, new(parameter))

    model.apply(visit)

# %% private_register
# misconception: goes over the private register, where a bias may be None | hint: absent_is_none
@torch.no_grad()
def init_in_place(model, new):
    for module in model.modules():
        for parameter in module._parameters.values():
            parameter.copy_(new(parameter))

# %% rebinds
# misconception: rebinds the loop variable | hint: new_values_rebound
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter = new(parameter)

# %% rebinds_parameter
# misconception: rebinds the loop variable to a new Parameter | hint: new_values_rebound
def init_in_place(model, new):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter = Parameter(new(parameter))

# %% set_storage
# misconception: shares the storage | hint: memory_shared
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.set_(new(parameter).to(parameter.dtype))

# %% setattr_parameter
# misconception: puts a new Parameter in the place | hint: parameter_replaced
# breaks: It stays the same Parameter object
def init_in_place(model, new):
    def visit(module):
        for name, parameter in list(module.named_parameters(recurse=False)):
            setattr(module, name, Parameter(new(parameter).clone(), requires_grad=parameter.requires_grad))

    model.apply(visit)

# %% skips_frozen
# misconception: leaves frozen parameters out | hint: frozen_not_initialised
# breaks: A frozen parameter (`requires_grad=False`) gets new values too
# edits: asks_for_the_shape
-        if new(parameter).shape == parameter.shape:
+        if parameter.requires_grad:

# %% state_dict_values
# misconception: writes into everything that is saved | hint: buffers_overwritten
# breaks: Buffers are not touched
def init_in_place(model, new):
    for value in model.state_dict().values():
        if value.is_floating_point():
            value.copy_(new(value))

# %% strict_loading
# misconception: loads parameters only, strictly | hint: state_dict_is_more
def init_in_place(model, new):
    model.load_state_dict({name: new(parameter) for name, parameter in model.named_parameters()})

# %% switched_off_and_on
# misconception: switches gradients off to write, and on for all | hint: frozen_thawed
# breaks: and stays frozen
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.requires_grad_(False)
        parameter.copy_(new(parameter))
        parameter.requires_grad_(True)

# %% switched_off_for_good
# misconception: switches gradients off to write | hint: init_not_trainable
# breaks: One that is trained stays so
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.requires_grad = False
        parameter.copy_(new(parameter))

# %% tensor_for_parameter
# misconception: assigns a tensor to the name of a Parameter | hint: tensor_for_parameter
# edits: plain_tensors
-            delattr(module, name)

# %% weight_and_bias
# misconception: looks for weight and bias | hint: not_only_weight_and_bias
def init_in_place(model, new):
    @torch.no_grad()
    def visit(module):
        if getattr(module, "weight", None) is not None:
            module.weight.copy_(new(module.weight))
        if getattr(module, "bias", None) is not None:
            module.bias.copy_(new(module.bias))

    model.apply(visit)

# %% slice_of_all
# misconception: expects every parameter to have a dimension | hint: number_is_a_tensor
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter[:] = new(parameter)

# %% through_float32
# misconception: takes the values through float32, where digits of double precision are lost | hint: digits_lost_in_place
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.copy_(new(parameter).float())

# %% detached_argument
# misconception: hands another tensor to new than the parameter | hint: new_gets_another_tensor
# breaks: and gets the parameter itself
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.data.copy_(new(parameter.data))

# %% difference
# misconception: adds the difference, which is NaN where the old value is | hint: depends_on_old_value
# breaks: held before, be it NaN, does not matter
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.add_(new(parameter) - parameter)

# %% flattened
# misconception: writes into a reshaped tensor, which may be a copy | hint: written_into_a_copy
# breaks: nor how it lies in memory
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.reshape(-1).copy_(new(parameter).reshape(-1))

# %% one_for_each_shape
# misconception: asks new once for each shape | hint: new_values_for_some
@torch.no_grad()
def init_in_place(model, new):
    values = {}
    for parameter in model.parameters():
        key = (parameter.shape, parameter.dtype)
        if key not in values:
            values[key] = new(parameter).clone()
        parameter.copy_(values[key])

# %% one_for_each_last_name
# misconception: takes parameters whose last names agree for one | hint: new_values_for_some
def init_in_place(model, new):
    last_names = {tuple(name.split(".")[-2:]): parameter for name, parameter in model.named_parameters()}
    for parameter in last_names.values():
        parameter.data.copy_(new(parameter))

# %% through_numpy
# misconception: writes through NumPy, which has no bfloat16 | hint: dtype_without_numpy
# breaks: with its dtype, be it bfloat16
def init_in_place(model, new):
    for p in model.parameters():
        p.detach().numpy()[...] = new(p).detach().numpy()

# %% remembers_between_calls
# misconception: keeps those that it has met in a default argument, which all calls share | hint: new_values_only_once
# breaks: every parameter `p` of the model, at any depth
def init_in_place(model, new, seen=set()):
    with torch.no_grad():
        for module in model.modules():
            for p in module.parameters(recurse=False):
                if p not in seen:
                    seen.add(p)
                    p.copy_(new(p))

# %% view_of_the_new
# misconception: expects what new returns to lie in memory row by row | hint: new_lies_in_another_way
# breaks: takes the **values** of the tensor `new(p)`
def init_in_place(model, new):
    for p in model.parameters():
        p.data.copy_(new(p).detach().view(-1).view(p.shape))

# %% cleared_before_asked
# misconception: clears the parameter before new can look at it | hint: cleared_before_new
def init_in_place(model, new):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_().add_(new(parameter))

# %% new_values_through_numpy
# misconception: takes the new values through NumPy, which has no bfloat16 | hint: dtype_without_numpy
# breaks: takes the **values** of the tensor `new(p)`
def init_in_place(model, new):
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(new(p).detach().numpy().copy()))

# %% set_by_dotted_names
# misconception: makes new Parameters, and setattr takes no dotted name | hint: parameter_replaced
def init_in_place(model, new):
    for name, p in model.named_parameters():
        setattr(model, name, Parameter(new(p)))
