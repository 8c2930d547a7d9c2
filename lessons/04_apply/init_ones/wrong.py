# nothing to break: You may rely on this: the trees are made of the classes above, so that every parameter in them is a `W`; none is frozen, and none holds NaN or infinity.

# %% applied_to_a_copy
# misconception: applies it to another model | hint: not_applied
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)


returned_module = Model().apply(weight_initialization)

# %% calls_it
# misconception: calls the function instead of handing it over | hint: cell_stopped
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)


returned_module = model.apply(weight_initialization(model))

# %% divides_by_itself
# misconception: what it writes depends on what was there | hint: depends_on_old_value
# breaks: its value becomes 1, **whatever it was before**
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data /= module.W.data


returned_module = model.apply(weight_initialization)

# %% exact_class_name
# misconception: compares the class name with a word that no class has | hint: apply_changes_nothing
model = Model()


def weight_initialization(module):
    if module.__class__.__name__ == "Function":
        module.W.data.fill_(1)


returned_module = model.apply(weight_initialization)

# %% forward_returns_input
# misconception: makes the output right by another forward | hint: apply_changes_nothing
model = Model()


def weight_initialization(module):
    module.forward = lambda x: x


returned_module = model.apply(weight_initialization)

# %% frozen
# misconception: replaces the Parameter by one that cannot be trained | hint: init_not_trainable
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W = Parameter(torch.ones(1), requires_grad=False)


returned_module = model.apply(weight_initialization)

# %% frozen_in_place
# misconception: switches gradients off to write in place, and never on again | hint: init_not_trainable
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.requires_grad_(False).fill_(1)


returned_module = model.apply(weight_initialization)

# %% global_model
# misconception: uses the notebook's model, not the module it is given | hint: apply_uses_global_model
# breaks: Use the module that the function is given
model = Model()


def weight_initialization(module):
    for parameter in model.parameters():
        parameter.data.fill_(1)


returned_module = model.apply(weight_initialization)

# %% in_place_while_recording
# misconception: in-place on a leaf, without no_grad | hint: leaf_in_place
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.fill_(1.0)


returned_module = model.apply(weight_initialization)

# %% integer_parameter
# misconception: a Parameter of integers | hint: integer_parameter
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W = Parameter(torch.tensor([1]))


returned_module = model.apply(weight_initialization)

# %% never_applied
# misconception: defines the function, never applies it | hint: not_applied
# breaks: Apply the function to `model`
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)


returned_module = model

# %% no_argument
# misconception: the function takes no module | hint: apply_argument
model = Model()


def weight_initialization():
    for parameter in model.parameters():
        parameter.data.fill_(1)


weight_initialization()
returned_module = model

# %% no_filter
# misconception: expects every module to have a W | hint: not_every_module_has_it
model = Model()


def weight_initialization(module):
    module.W.data.fill_(1)


returned_module = model.apply(weight_initialization)

# %% one_class_only
# misconception: reaches one class only | hint: apply_misses_some
model = Model()


def weight_initialization(module):
    if module.__class__.__name__ == "Function_A":
        module.W.data.fill_(1)


returned_module = model.apply(weight_initialization)

# %% one_memory_for_all
# misconception: hands one tensor to the .data of all | hint: memory_shared
# breaks: can still be trained, independently of the others
model = Model()
one = torch.ones(1)


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data = one


returned_module = model.apply(weight_initialization)

# %% one_parameter_for_all
# misconception: stores one Parameter on all modules | hint: shared_parameter
model = Model()
one = Parameter(torch.ones(1))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W = one


returned_module = model.apply(weight_initialization)

# %% ones_and_identity
# misconception: initialises, and cuts W out of the computation | hint: not_in_the_output
# breaks: What the model computes with `W` stays the same
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.forward = lambda x: x


returned_module = model.apply(weight_initialization)

# %% plain_tensor
# misconception: assigns a tensor to a Parameter's name | hint: tensor_for_parameter
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W = torch.ones(1)


returned_module = model.apply(weight_initialization)

# %% rebinds_name
# misconception: rebinds a local name | hint: apply_changes_nothing
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        W = module.W
        W = torch.ones(1)


returned_module = model.apply(weight_initialization)

# %% return_not_kept
# misconception: keeps something else than what apply returns | hint: wrong_return
# breaks: keep what `apply` returns in `returned_module`
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)


model.apply(weight_initialization)
returned_module = weight_initialization

# %% returns_new_weight
# misconception: thinks that apply uses what the function returns | hint: apply_changes_nothing
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        return Parameter(torch.ones(1))
    return module


returned_module = model.apply(weight_initialization)

# %% rounds
# misconception: rounds weights that happen to lie near 1 | hint: depends_on_old_value
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.round_().clamp_(1, 1.4)


returned_module = model.apply(weight_initialization)

# %% same_output
# misconception: any equal value lets the model return its input | hint: equal_but_not_one
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(2.7)


returned_module = model.apply(weight_initialization)

# %% scalar_shape
# misconception: a scalar instead of one element | hint: init_shape
# breaks: `W` keeps its shape `(1,)`
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W = Parameter(torch.tensor(1.0))


returned_module = model.apply(weight_initialization)

# %% unregistered_tensor
# misconception: replaces the Parameter by an attribute that is not registered | hint: tensor_for_parameter
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        del module.W
        module.W = torch.ones(1, requires_grad=True)


returned_module = model.apply(weight_initialization)

# %% zeros
# misconception: another value | hint: another_constant
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.zeros_(module.W)


returned_module = model.apply(weight_initialization)

# %% children_of_the_module
# misconception: sets the W of the children of the module that it is given | hint: only_the_children
# breaks: and to a single `Function_*`
model = Model()


def weight_initialization(module):
    for child in module.children():
        if hasattr(child, "W"):
            child.W.data.fill_(1)


returned_module = model.apply(weight_initialization)

# %% pinned_by_a_hook
# misconception: sets W back to 1 at every call | hint: not_in_the_output
# breaks: also when `W` has another value later on
model = Model()


def back_to_one(module, args):
    nn.init.ones_(module.W)


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.ones_(module.W)
        module.register_forward_pre_hook(back_to_one)


returned_module = model.apply(weight_initialization)

# %% adds_the_difference
# misconception: adds what is missing, which is rounded away where the old value is large | hint: depends_on_old_value
# breaks: whatever it was before
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        with torch.no_grad():
            module.W += 1 - module.W


returned_module = model.apply(weight_initialization)

# %% the_module_itself
# misconception: hands the module to nn.init, not its parameter | hint: module_for_parameter
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.ones_(module)


returned_module = model.apply(weight_initialization)

# %% random_around_one
# misconception: random numbers around 1 | hint: wrong_start
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.normal_(module.W, mean=1.0)


returned_module = model.apply(weight_initialization)
