# nothing to break: `Function_*` means the four classes `Function_A` to `Function_D`.
# nothing to break: Whether gradients reach `W` and `b`, and what becomes of a `Function_*` outside the trees, is not asked here: that is the matter of 'Linear, for good', further on.
# nothing to break: A hook or a new `forward`: as you like.
# nothing to break: It uses symmetric `W`, so `X @ W.T + b`, which is what `nn.Linear` computes, is right too.
# nothing to break: If your `model` was made by `Model()`, without a shape, the check gives its `W` the shape (2, 2).
# nothing to break: `W` now has shape (2, 2).

# %% adds_bias_only
# misconception: adds b to the old output | hint: uses_old_output
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return output + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% bias_everywhere
# misconception: gives b to the layers too | hint: touches_other_modules
# breaks: on no other module
model = Model(shape=(2, 2))


def add_bias(module):
    module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% bias_not_initialised
# misconception: initialises W only | hint: bias_not_one
# breaks: sets every element of `W` and of `b` to 1
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% bias_on_columns
# misconception: adds b to the columns | hint: bias_on_columns
# breaks: with `b` added to each row
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return input[0] @ module.W + module.b.reshape(2, 1)

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% buffer_bias
# misconception: b is a buffer | hint: buffer_for_parameter
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.register_buffer("b", torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% calls_forward_once
# misconception: computes once, while apply visits | hint: old_forward_runs
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    X = torch.ones(2, 2)
    if hasattr(module, "W"):
        output = X @ module.W + module.b
        return output


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% child_called_b
# misconception: hasattr is also true for the child b of Layer_AB | hint: child_of_that_name
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
    if hasattr(module, "b"):
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% child_called_b_init
# misconception: hasattr is also true for the child b of Layer_AB | hint: child_of_that_name
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
    if hasattr(module, "b"):
        nn.init.ones_(module.b)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% column_bias
# misconception: b is a column | hint: linear_bias_shape
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2, 1))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% copies_weights
# misconception: copies W and b while apply visits | hint: stale_weights
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        W, b = module.W.detach().clone(), module.b.detach().clone()
        module.forward = lambda X: X @ W + b


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% elementwise
# misconception: multiplies element by element | hint: elementwise_product
# breaks: the matrix product `X @ W`
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return input[0] * module.W + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% forgets_bias
# misconception: leaves the bias out | hint: forgets_bias
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return input[0] @ module.W

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% global_model
# misconception: works on the notebook's model, not on the module it is given | hint: apply_uses_global_model
# breaks: to a fresh tree as well
model = Model(shape=(2, 2))


parts = [model.ab.a, model.ab.b, model.cd.c, model.cd.d]


def add_bias(module):
    for part in parts:
        part.b = Parameter(torch.rand(2))


def weight_initialization(module):
    for part in parts:
        part.W.data.fill_(1)
        part.b.data.fill_(1)


def linear_transformation(module):
    for part in parts:
        part.forward = partial(lambda self, X: X @ self.W + self.b, part)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% hook_on_layers_too
# misconception: hooks every module | hint: not_every_module_has_it
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% hook_returns_nothing
# misconception: rebinds output, returns nothing | hint: linear_hook_returns_nothing
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        output = input[0] @ module.W + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% in_place_while_recording
# misconception: in-place on a leaf, without no_grad | hint: leaf_in_place
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.fill_(1)
        module.b.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% initialised_too_early
# misconception: initialises before b exists | hint: bias_missing
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
    if hasattr(module, "W") and hasattr(module, "b"):
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% input_is_tuple
# misconception: takes the tuple of inputs for the input | hint: input_is_tuple
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return input @ module.W + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% instance_call
# misconception: an object's own __call__ is never looked up | hint: dunder_on_instance
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.__call__ = lambda X: X @ module.W + module.b


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% late_binding
# misconception: all hooks of one loop share the variable | hint: apply_late_binding
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    global part
    if hasattr(module, "W"):
        part = module
        module.register_forward_hook(lambda m, args, output: args[0] @ part.W + part.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% matmul_of_tuple
# misconception: takes the tuple of inputs for the input | hint: input_is_tuple
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return torch.matmul(input, module.W) + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% no_filter
# misconception: expects every module to have a W | hint: not_every_module_has_it
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    module.W.data.fill_(1)
    module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% not_rewired
# misconception: the third apply is missing | hint: not_applied
# breaks: apply each of them to `model`
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


model.apply(add_bias)
returned_module = model.apply(weight_initialization)

# %% one_bias_for_all
# misconception: stores one Parameter on all modules | hint: shared_parameter
model = Model(shape=(2, 2))
B = Parameter(torch.rand(2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = B


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return input[0] @ module.W + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% one_class
# misconception: rewires one class only | hint: apply_misses_some
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if isinstance(module, Function_C):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% one_element_bias
# misconception: b has one element | hint: linear_bias_shape
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(1))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% ones_typed_in
# misconception: multiplies by ones, not by W | hint: stale_weights
# breaks: with the values that `W` and `b` have at the moment of the call
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return input[0] @ torch.ones(2, 2) + 1

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% other_name
# misconception: the bias has another name | hint: bias_missing
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.bias = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.bias.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.bias)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% plain_tensor_bias
# misconception: b is a plain tensor | hint: tensor_for_parameter
# breaks: registers a `Parameter` called `b`
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = torch.rand(2)


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% plain_tensor_with_grad
# misconception: a tensor that requires a gradient is no Parameter | hint: tensor_for_parameter
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = torch.rand(2, requires_grad=True)


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% pre_hook
# misconception: changes the input, the old forward still follows | hint: pre_hook_keeps_forward
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input):
        return input[0] @ module.W + module.b

    if "Function" in type(module).__name__:
        module.register_forward_pre_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% remembers_by_class
# misconception: keeps the parameters by class name, so a second tree shares them | hint: shares_between_trees
model = Model(shape=(2, 2))
known = {}


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        owner = known.setdefault(type(module).__name__, module)
        module.forward = lambda X: X @ owner.W + owner.b


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% return_not_kept
# misconception: returned_module is something else | hint: wrong_return
# breaks: Keep what the last `apply` returns in `returned_module`
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


model.apply(add_bias)
model.apply(weight_initialization)
model.apply(linear_transformation)
returned_module = (add_bias, weight_initialization, linear_transformation)

# %% returns_linear
# misconception: thinks that apply puts in what the function returns | hint: old_forward_runs
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        layer = nn.Linear(2, 2)
        layer.weight, layer.bias = module.W, module.b
        return layer
    return module


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% row_bias
# misconception: b is a row matrix | hint: linear_bias_shape
# breaks: of shape (2,) on every `Function_*`
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(1, 2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% row_sums
# misconception: right only where all weights are equal | hint: stale_weights
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return input[0].sum(1, keepdim=True) + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% scales_by_mean
# misconception: right only where all weights are equal | hint: right_for_equal_weights
# breaks: writes other values into `W` and `b`, in place
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return input[0].sum(1, keepdim=True) * module.W.mean() + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% square_bias
# misconception: b has the shape of W | hint: linear_bias_shape
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand_like(module.W))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% two_arguments
# misconception: a forward hook with two arguments | hint: hook_arguments
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, output):
        return output @ module.W + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% unbound_forward
# misconception: a plain function on an object gets no self | hint: unbound_function
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def new_forward(self, X):
    return X @ self.W + self.b


def linear_transformation(module):
    if hasattr(module, "W"):
        module.forward = new_forward


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% uses_output
# misconception: multiplies the old output | hint: uses_old_output
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return output @ module.W + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% weights_random
# misconception: adds b, initialises nothing | hint: apply_changes_nothing
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    W, b = torch.ones(2, 2), torch.ones(2)
    return W, b


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% wrong_order_of_calls
# misconception: initialises before b exists, so b stays random | hint: bias_not_one
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
    if hasattr(module, "W") and hasattr(module, "b"):
        module.b.data.fill_(1)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)


returned_module = model.apply(weight_initialization)
returned_module = model.apply(add_bias)
returned_module = model.apply(linear_transformation)

# %% wrong_side
# misconception: multiplies from the wrong side | hint: wrong_side
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return module.W @ input[0] + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% ones_by_birth
# misconception: b is made of ones, and so is not set to 1 | hint: bias_not_one
# breaks: sets every element of `W` and of `b` to 1
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.ones(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.ones_(module.W)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.forward = lambda X: X @ module.W + module.b


model.apply(add_bias)
model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% output_in_a_tuple
# misconception: returns a tuple from the hook, because the inputs come in one | hint: output_in_a_tuple
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.zeros(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.ones_(module.W)
        nn.init.ones_(module.b)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(lambda module, args, output: (args[0] @ module.W + module.b,))


model.apply(add_bias)
model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% input_from_the_old_output
# misconception: undoes the old forward to get X back | hint: needs_the_old_output
# breaks: makes every `Function_*` return `X @ W + b`
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.zeros(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.ones_(module.W)
        nn.init.ones_(module.b)


def linear(module, args, output):
    if isinstance(module, Function_A):
        X = output - module.W
    elif isinstance(module, Function_B):
        X = output + module.W
    elif isinstance(module, Function_C):
        X = output / module.W
    else:
        X = output * module.W
    return X @ module.W + module.b


def linear_transformation(module):
    if hasattr(module, "W"):
        module.register_forward_hook(linear)


model.apply(add_bias)
model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% divided_by_itself
# misconception: what is divided by itself is 1, but not 0 / 0 | hint: depends_on_old_value
# breaks: sets every element of `W` and of `b` to 1
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.ones(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        with torch.no_grad():
            module.W.div_(module.W)
            module.b.div_(module.b)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.forward = lambda X: X @ module.W + module.b


model.apply(add_bias)
model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% biases_in_one_memory
# misconception: every b is a Parameter of its own, made from one and the same tensor | hint: memory_shared
# breaks: each its own
model = Model(shape=(2, 2))
zeros = torch.zeros(2)


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(zeros)


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.ones_(module.W)
        nn.init.ones_(module.b)


def linear_transformation(module):
    if hasattr(module, "W"):
        module.forward = lambda X: X @ module.W + module.b


model.apply(add_bias)
model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% linear_layers_in_their_places
# misconception: the parent puts an nn.Linear into the place of each function | hint: module_replaced
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.zeros(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        nn.init.ones_(module.W)
        nn.init.ones_(module.b)


def linear_transformation(module):
    for name, child in module.named_children():
        if hasattr(child, "W"):
            linear = nn.Linear(2, 2)
            linear.weight, linear.bias = child.W, child.b
            setattr(module, name, linear)


model.apply(add_bias)
model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
