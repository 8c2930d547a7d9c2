# nothing to break: All gradients are in float32 or float64.

# %% at_once
# misconception: computes the norm at once, from .grad | hint: norm_watch_reads_grad
def watch_norm(model):
    norms = []
    norms.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm())
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% clip_grad_norm
# misconception: lets clip_grad_norm_ tell the norm, in the hook | hint: norm_watch_reads_grad
def watch_norm(model):
    norms = []
    parameters = list(model.parameters())

    def hook(grads):
        norms.append(nn.utils.clip_grad_norm_(parameters, float("inf")))

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% clips_too
# misconception: scales the gradients on the way | hint: changes_gradient
# breaks: All gradients stay as they are.
def watch_norm(model):
    norms = []

    def hook(grads):
        there = [grad for grad in grads if grad is not None]
        total = torch.cat([grad.flatten() for grad in there]).norm()
        norms.append(total.item())
        for grad in there:
            grad.mul_(min(1.0, 1.0 / total.item()))

    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% count_never_reset
# misconception: gathers squares and never starts anew | hint: norm_watch_adds_up
def watch_norm(model):
    norms, squares = [], []

    def hook(grads):
        for grad in grads:
            if grad is not None:
                squares.append((grad**2).sum().item())
        norms.append(sum(squares) ** 0.5)

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% counts_to_all
# misconception: plain hooks that wait until every parameter has come by | hint: norm_watch_waits_for_all
def watch_norm(model):
    norms, squares = [], []
    count = len(list(model.parameters()))

    def hook(grad):
        squares.append((grad**2).sum().item())
        if len(squares) == count:
            norms.append(sum(squares) ** 0.5)
            squares.clear()

    for parameter in model.parameters():
        parameter.register_hook(hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% dot_grad
# misconception: reads .grad of the parameters in the hook | hint: norm_watch_reads_grad
def watch_norm(model):
    norms = []
    parameters = list(model.parameters())

    def hook(grads):
        norms.append(torch.cat([parameter.grad.flatten() for parameter in parameters]).norm())

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% dot_grad_where_there
# misconception: reads .grad where there is one | hint: norm_watch_reads_grad
def watch_norm(model):
    norms = []
    parameters = list(model.parameters())

    def hook(grads):
        there = [parameter.grad.flatten() for parameter in parameters if parameter.grad is not None]
        norms.append(torch.cat(there).norm())

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% extends
# misconception: all the norms, one after another | hint: norm_watch_hook_for_each
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.extend(grad.norm() for grad in grads if grad is not None)

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% frozen_in_the_list
# misconception: all parameters, the frozen ones too | hint: norm_watch_frozen
# breaks: Parameters that a pass does not reach, and frozen ones, count for nothing
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% generator
# misconception: hands over the generator | hint: norm_watch_generator
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.stack([grad.norm() for grad in grads if grad is not None]).norm())

    torch.autograd.graph.register_multi_grad_hook(model.parameters(), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% global_list
# misconception: one global list | hint: shared_list
# breaks: It returns a list at once, still empty.
norms = []


def watch_norm(model):
    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% keeps_the_last
# misconception: keeps the last number only | hint: keeps_last_only
def watch_norm(model):
    norms = []

    def hook(grads):
        norms[:] = [torch.cat([grad.flatten() for grad in grads if grad is not None]).norm()]

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% largest_element
# misconception: the largest element | hint: norm_watch_other_norm
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(max(grad.abs().max() for grad in grads if grad is not None))

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% largest_norm
# misconception: the largest of the norms | hint: norm_watch_one_parameter
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(max(grad.norm().item() for grad in grads if grad is not None))

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% last_model_only
# misconception: removes the hook of the model before | hint: earlier_call_forgotten
handles = []


def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())

    while handles:
        handles.pop().remove()
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    handles.append(torch.autograd.graph.register_multi_grad_hook(trainable, hook))
    return norms

# %% last_parameter
# misconception: a hook on the parameter that gets its gradient last | hint: norm_watch_one_parameter
def watch_norm(model):
    norms = []
    first = next(model.parameters())
    first.register_hook(lambda grad: norms.append(grad.norm()))
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% last_post_accumulate
# misconception: the sums in .grad, once the first parameter has its own | hint: norm_watch_adds_up
def watch_norm(model):
    norms = []
    parameters = list(model.parameters())

    def hook(parameter):
        norms.append(torch.cat([p.grad.flatten() for p in parameters if p.grad is not None]).norm())

    parameters[0].register_post_accumulate_grad_hook(hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% list_of_norms
# misconception: the norms, not put together | hint: norm_watch_not_one_number
# breaks: A Python number and a tensor without dimensions are both fine, and float32 is precise enough.
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append([grad.norm().item() for grad in grads if grad is not None])

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% mean_of_norms
# misconception: the mean of the norms | hint: norm_watch_sum_of_norms
def watch_norm(model):
    norms = []

    def hook(grads):
        each = [grad.norm().item() for grad in grads if grad is not None]
        norms.append(sum(each) / len(each))

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% mode_any
# misconception: the mode that does not wait | hint: norm_watch_one_parameter
def watch_norm(model):
    norms = []
    torch.autograd.graph.register_multi_grad_hook(
        list(model.parameters()), lambda grad: norms.append(grad.norm()), mode="any"
    )
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% module_hook
# misconception: the arguments of a module hook | hint: norm_watch_gets_a_list
def watch_norm(model):
    norms = []

    def hook(module, grad_input, grad_output):
        norms.append(torch.cat([grad.flatten() for grad in grad_input]).norm())

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% never_registered
# misconception: defines the hook and registers it nowhere | hint: hook_never_ran
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())

    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% no_root
# misconception: forgets the root | hint: norm_watch_no_root
# breaks: This is what `clip_grad_norm_` calls the total norm
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(sum((grad**2).sum() for grad in grads if grad is not None))

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% none_is_a_gradient
# misconception: all parameters always have a gradient | hint: norm_watch_none
# breaks: Parameters that a pass does not reach
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads]).norm())

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% none_is_true
# misconception: filters by truth, which a tensor of many elements does not have | hint: truth_of_tensor
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad]).norm())

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% one_gradient
# misconception: takes the argument for one gradient | hint: norm_watch_gets_a_list
def watch_norm(model):
    norms = []
    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), lambda grad: norms.append(grad.norm()))
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% plain_hooks
# misconception: a plain hook on each parameter | hint: norm_watch_hook_for_each
def watch_norm(model):
    norms = []
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: norms.append(grad.norm()))
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% removes_itself
# misconception: the hook removes itself after the first pass | hint: runs_only_once
# breaks: Each later backward pass that reaches parameters of `model` adds one number to it
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())
        handle.remove()

    handle = torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% returns_the_handle
# misconception: returns the handle | hint: returns_no_list
# breaks: Write `watch_norm(model)`.
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())

    return torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% root_mean_square
# misconception: the root of the mean of the squares | hint: norm_watch_not_the_norm
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).pow(2).mean().sqrt())

    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)
    return norms

# %% rounded
# misconception: rounds for the display | hint: norm_watch_rounded
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(round(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm().item(), 4))

    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% shared_twice
# misconception: walks over all layers and meets a shared parameter twice | hint: norm_watch_shared_twice
# breaks: one that two layers share counts once
def watch_norm(model):
    norms = []
    found = [p for module in model.modules() for p in module.parameters(recurse=False) if p.requires_grad]

    def hook(grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())

    torch.autograd.graph.register_multi_grad_hook(found, hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% stacks_gradients
# misconception: stacks gradients of different shapes | hint: norm_watch_not_one_number
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(torch.stack([grad for grad in grads if grad is not None]).norm())

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% star_arguments
# misconception: one argument for each gradient | hint: norm_watch_gets_a_list
def watch_norm(model):
    norms = []

    def hook(*grads):
        norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm())

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% sum_of_norms
# misconception: norms add up | hint: norm_watch_sum_of_norms
# breaks: as if they were one long vector
def watch_norm(model):
    norms = []

    def hook(grads):
        norms.append(sum(grad.norm() for grad in grads if grad is not None))

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), hook)
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% zero_left_out
# misconception: a norm of zero is none | hint: drops_an_entry
def watch_norm(model):
    norms = []

    def hook(grads):
        grads = [grad for grad in grads if grad is not None]
        norm = torch.cat([grad.flatten() for grad in grads]).norm().item()
        if norm:
            norms.append(norm)

    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)
    return norms

# %% viewed_flat
# misconception: takes every gradient for contiguous | hint: hook_views_flat
def watch_norm(model):
    norms = []

    def hook(grads):
        grads = [grad for grad in grads if grad is not None]
        norms.append(torch.cat([grad.view(-1) for grad in grads]).norm())

    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)
    return norms

# %% row_by_row
# misconception: adds up row by row, and a gradient may have no rows | hint: no_dimensions
# breaks: the norm of all gradients of this pass together, as if they were one long vector
def watch_norm(model):
    norms = []

    def note(grads):
        rows = [row for grad in grads if grad is not None for row in grad]
        norms.append(sum((row.double() ** 2).sum().item() for row in rows) ** 0.5)

    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    torch.autograd.graph.register_multi_grad_hook(learning, note)
    return norms

# %% finite_only
# misconception: leaves out what is not finite | hint: drops_an_entry
# breaks: it is infinite or NaN if the gradients are
def watch_norm(model):
    norms = []
    parameters = [p for p in model.parameters() if p.requires_grad]

    def hook(grads):
        norm = torch.cat([grad.flatten() for grad in grads if grad is not None]).norm()
        if norm.isfinite():
            norms.append(norm.item())

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms

# %% in_training_only
# misconception: backward belongs to training mode | hint: training_only
# breaks: Each later backward pass that reaches parameters of `model` adds one number to it
def watch_norm(model):
    norms = []
    parameters = [p for p in model.parameters() if p.requires_grad]

    def hook(grads):
        if model.training:
            norms.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm().item())

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms

# %% global_list_cleared
# misconception: one list for all calls, emptied at each of them | hint: shared_list
everything = []


def watch_norm(model):
    everything.clear()

    def hook(grads):
        everything.append(torch.cat([grad.flatten() for grad in grads if grad is not None]).norm().item())

    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)
    return everything

# %% starts_afresh
# misconception: empties all gradients, to begin afresh | hint: empties_grad
# breaks: All gradients stay as they are.
def watch_norm(model):
    model.zero_grad()
    norms = []
    torch.autograd.graph.register_multi_grad_hook(
        [p for p in model.parameters() if p.requires_grad],
        lambda grads: norms.append(nn.utils.get_total_norm([g for g in grads if g is not None])),
    )
    return norms

# %% parameters_to_vector
# misconception: a function that takes every gradient for contiguous | hint: hook_views_flat
# breaks: Each later backward pass that reaches parameters of `model` adds one number to it
def watch_norm(model):
    norms = []
    parameters = [p for p in model.parameters() if p.requires_grad]

    def hook(grads):
        pieces = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, grads)]
        norms.append(nn.utils.parameters_to_vector(pieces).norm().item())

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms
