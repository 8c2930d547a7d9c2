# nothing to break: An optimizer already holds the parameters of `model`.

# %% adds
# misconception: adds the new values to the old ones | hint: depends_on_old_value | canary
@torch.no_grad()
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter += new(parameter)

# %% apply_visits_twice
# misconception: forgets that apply visits a layer once for each path to it | hint: new_asked_twice
# breaks: `new` is called once for each parameter
def init_in_place(model, new):
    @torch.no_grad()
    def visit(module):
        for parameter in module.parameters(recurse=False):
            parameter.copy_(new(parameter))

    model.apply(visit)

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
# breaks: keeps its dtype
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.data = new(parameter).clone()

# %% data_to_dtype
# misconception: hands the tensor to .data, in the right dtype | hint: memory_shared
# breaks: no two parameters share memory afterwards
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter.data = new(parameter).to(parameter.dtype)

# %% fills_with_first
# misconception: fills with one number | hint: one_number_for_tensor
# edits: adds
-        parameter += new(parameter)
+        parameter.fill_(new(parameter).mean())

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
# breaks: takes the values of `new(p)`
def init_in_place(model, new):
    for parameter in model.parameters():
        nn.init.ones_(parameter)

# %% out_of_place
# misconception: an operation that is not in place | hint: new_values_rebound
# edits: copies_from
-            new(parameter).copy_(parameter)
+            parameter.mul(0).add(new(parameter))

# %% own_level
# misconception: the model's own parameters only | hint: new_values_for_some
# breaks: every parameter `p`, at any depth, takes
def init_in_place(model, new):
    with torch.no_grad():
        for parameter in model.parameters(recurse=False):
            parameter.copy_(new(parameter))

# %% rebinds
# misconception: rebinds the loop variable | hint: new_values_rebound
def init_in_place(model, new):
    for parameter in model.parameters():
        parameter = new(parameter)

# %% setattr_parameter
# misconception: puts a new Parameter in the place | hint: parameter_replaced
# breaks: Each parameter stays the same object
def init_in_place(model, new):
    def visit(module):
        for name, parameter in list(module.named_parameters(recurse=False)):
            setattr(module, name, Parameter(new(parameter).clone(), requires_grad=parameter.requires_grad))

    model.apply(visit)

# %% skips_frozen
# misconception: leaves frozen parameters out | hint: frozen_not_initialised
# edits: adds
-        parameter += new(parameter)
+        if parameter.requires_grad:
+            parameter.copy_(new(parameter))

# %% state_dict_values
# misconception: writes into everything that is saved | hint: buffers_overwritten
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
# breaks: its `requires_grad`
# edits: no_no_grad
+        parameter.requires_grad_(False)
         parameter.copy_(new(parameter))
+        parameter.requires_grad_(True)

# %% switched_off_for_good
# misconception: switches gradients off to write | hint: init_not_trainable
# edits: no_no_grad
+        parameter.requires_grad = False
         parameter.copy_(new(parameter))

# %% tensor_for_parameter
# misconception: assigns a tensor to the name of a Parameter | hint: tensor_for_parameter
# edits: setattr_parameter
-            setattr(module, name, Parameter(new(parameter).clone(), requires_grad=parameter.requires_grad))
+            setattr(module, name, new(parameter))

# %% weight_and_bias
# misconception: looks for weight and bias | hint: not_only_weight_and_bias
# edits: apply_visits_twice
-        for parameter in module.parameters(recurse=False):
-            parameter.copy_(new(parameter))
+        if getattr(module, "weight", None) is not None:
+            module.weight.copy_(new(module.weight))
+        if getattr(module, "bias", None) is not None:
+            module.bias.copy_(new(module.bias))

# %% set_by_dotted_names
# misconception: makes new Parameters, and setattr takes no dotted name | hint: parameter_replaced
def init_in_place(model, new):
    for name, p in model.named_parameters():
        setattr(model, name, Parameter(new(p)))

# %% matrices_only
# misconception: initialises weights, as most recipes do | hint: new_values_for_matrices
# breaks: every parameter `p`, at any depth, takes
def init_in_place(model, new):
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.copy_(new(parameter))
