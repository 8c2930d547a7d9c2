# nothing to break: Write `every_tensor(model, layers, x)`.
# nothing to break: (For the numbers of a named tuple you may use the names of its fields.)
# nothing to break: (There is one name or more in `layers`.
# nothing to break: Each layer runs once a call, and no model switches gradients on by itself.
# nothing to break: What is left after an error is not asked here.

# %% alias
# misconception: keeps the tensors themselves | hint: feat_alias
# breaks: as they were
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.detach()
        elif isinstance(value, dict):
            for key, part in value.items():
                put(f"{place}.{key}", part)
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% counted_through
# misconception: counts the tensors through | hint: feat_flat_numbers
# breaks: Its keys tell where each one was:
# breaks: a tuple or list, as an LSTM does: `(output, (h, c))` | `rnn.0`, `rnn.1.0`, `rnn.1.1`
def every_tensor(model, layers, x):
    found, handles = {}, []

    def tensors_in(value):
        if isinstance(value, torch.Tensor):
            return [value.detach().clone()]
        if isinstance(value, dict):
            value = list(value.values())
        return [t for part in value for t in tensors_in(part)] if isinstance(value, (tuple, list)) else []

    def hook(name, module, args, output):
        if isinstance(output, torch.Tensor):
            found[name] = output.detach().clone()
        else:
            for i, tensor in enumerate(tensors_in(output)):
                found[f"{name}.{i}"] = tensor

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% dict_values_numbered
# misconception: numbers the values of a dict | hint: feat_dict_skipped
# breaks: a dict `{"score": ..., "extra": [...]}`, whose keys are text | `rnn.score`, `rnn.extra.0`, ...
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.detach().clone()
        elif isinstance(value, dict):
            put(place, list(value.values()))
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% dicts_skipped
# misconception: opens tuples and lists only | hint: feat_dict_skipped
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.detach().clone()
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% direct_children
# misconception: looks among the children | hint: dotted_name
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.detach().clone()
        elif isinstance(value, dict):
            for key, part in value.items():
                put(f"{place}.{key}", part)
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    try:
        for name in layers:
            handles.append(getattr(model, name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% first_of_tuples
# misconception: takes the first part of each tuple | hint: feat_first_part
# breaks: returns a flat dict with **every** tensor that the named layers return
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        if isinstance(output, tuple):
            found[f"{name}.0"] = output[0].detach().clone()
        else:
            found[name] = output.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% first_part
# misconception: takes output[0] everywhere | hint: feat_first_part
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        found[name] = output[0].detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% form_by_class
# misconception: knows LSTM and attention by their class | hint: feat_dict_skipped
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        if isinstance(module, nn.LSTM):
            steps, (h, c) = output
            found[f"{name}.0"], found[f"{name}.1.0"], found[f"{name}.1.1"] = steps, h, c
        elif isinstance(module, nn.MultiheadAttention):
            found[f"{name}.0"], found[f"{name}.1"] = output
        else:
            found[name] = output

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return {place: tensor.detach().clone() for place, tensor in found.items() if tensor is not None}


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% graph_kept
# misconception: keeps the graph | hint: feat_graph
# breaks: without a gradient
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.clone()
        elif isinstance(value, dict):
            for key, part in value.items():
                put(f"{place}.{key}", part)
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% hooks_stay
# misconception: leaves the hooks there | hint: feat_hook_left
# breaks: Afterwards your hooks are gone
def every_tensor(model, layers, x):
    found = {}

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.detach().clone()
        elif isinstance(value, dict):
            for key, part in value.items():
                put(f"{place}.{key}", part)
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    for name in layers:
        model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o))
    model(x)
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% late_binding
# misconception: the loop variable is read when the hook runs | hint: loop_variable
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.detach().clone()
        elif isinstance(value, dict):
            for key, part in value.items():
                put(f"{place}.{key}", part)
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% nested_copies
# misconception: keeps the nesting | hint: feat_nested_value
def every_tensor(model, layers, x):
    found, handles = {}, []

    def copied(value):
        if isinstance(value, torch.Tensor):
            return value.detach().clone()
        if isinstance(value, dict):
            return {key: copied(part) for key, part in value.items()}
        if isinstance(value, (tuple, list)):
            return [copied(part) for part in value]
        return value

    def hook(name, module, args, output):
        found[name] = copied(output)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% none_copied
# misconception: copies whatever is at the end | hint: feat_none_part
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, dict):
            for key, part in value.items():
                put(f"{place}.{key}", part)
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)
        else:
            found[place] = value.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% none_kept
# misconception: keeps None and numbers as well | hint: feat_none_part
# breaks: Leave out what is no tensor at the end of its path: `None`, a number, text.
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, dict):
            for key, part in value.items():
                put(f"{place}.{key}", part)
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)
        else:
            found[place] = value.detach().clone() if isinstance(value, torch.Tensor) else value

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% none_opened
# misconception: opens whatever is no tensor | hint: feat_none_part
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.detach().clone()
        elif isinstance(value, dict):
            for key, part in value.items():
                put(f"{place}.{key}", part)
        else:
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% one_level
# misconception: opens one level | hint: feat_one_level
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        if isinstance(output, torch.Tensor):
            found[name] = output.detach().clone()
        else:
            for i, part in enumerate(output):
                if isinstance(part, torch.Tensor):
                    found[f"{name}.{i}"] = part.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% opens_text
# misconception: opens whatever can be looped over | hint: feat_into_text
from collections.abc import Iterable


def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.detach().clone()
        elif isinstance(value, Iterable):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% takes_tensors_apart
# misconception: loops over tensors | hint: feat_tensor_apart
# breaks: a tensor | `rnn`
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        for i, part in enumerate(output):
            if isinstance(part, torch.Tensor):
                found[f"{name}.{i}"] = part.detach().clone()
            elif isinstance(part, (tuple, list)):
                for j, inner in enumerate(part):
                    found[f"{name}.{i}.{j}"] = inner.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% tensors_only
# misconception: leaves out what is no tensor itself | hint: feat_tuples_skipped
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        if isinstance(output, torch.Tensor):
            found[name] = output.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% tuple_as_tensor
# misconception: treats every output as a tensor | hint: feat_output_is_tuple
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        found[name] = output.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% two_levels
# misconception: opens two levels, as many as an LSTM has | hint: feat_one_level
# breaks: Go on like this, however deep the parts lie.
def every_tensor(model, layers, x):
    found, handles = {}, []

    def parts(value):
        return value.items() if isinstance(value, dict) else enumerate(value)

    def hook(name, module, args, output):
        if isinstance(output, torch.Tensor):
            found[name] = output.detach().clone()
        elif isinstance(output, (tuple, list, dict)):
            for i, part in parts(output):
                if isinstance(part, torch.Tensor):
                    found[f"{name}.{i}"] = part.detach().clone()
                elif isinstance(part, (tuple, list, dict)):
                    for j, inner in parts(part):
                        if isinstance(inner, torch.Tensor):
                            found[f"{name}.{i}.{j}"] = inner.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% under_one_name
# misconception: files all parts under the layer's name | hint: feat_parts_overwrite
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(name, value):
        if isinstance(value, torch.Tensor):
            found[name] = value.detach().clone()
        elif isinstance(value, dict):
            for part in value.values():
                put(name, part)
        elif isinstance(value, (tuple, list)):
            for part in value:
                put(name, part)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% unpacked_as_lstm
# misconception: takes every tuple for an LSTM's | hint: feat_typed_in_form
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        if isinstance(output, torch.Tensor):
            found[name] = output.detach().clone()
        else:
            steps, (h, c) = output
            for place, tensor in (("0", steps), ("1.0", h), ("1.1", c)):
                found[f"{name}.{place}"] = tensor.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% plain_tuples_only
# misconception: asks for just the classes tuple, list and dict | hint: feat_named_tuple
# breaks: an `OrderedDict` is a dict
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.detach().clone()
        elif type(output) is dict:
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif type(output) in (tuple, list):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    for name in layers:
        hook = lambda module, args, output, name=name: put(name, output)
        handles.append(model.get_submodule(name).register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return found

# %% in_eval_mode
# misconception: switches to eval mode, and leaves it so | hint: changes_mode
# breaks: every module is in the mode that it was in
def every_tensor(model, layers, x):
    found, handles = {}, []
    model.eval()

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    for name in layers:
        hook = lambda module, args, output, name=name: put(name, output)
        handles.append(model.get_submodule(name).register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return found

# %% one_mode_put_back
# misconception: puts the model's own mode back, for all modules | hint: feat_one_mode_for_all
# breaks: every module is in the mode that it was in
def every_tensor(model, layers, x):
    found, training = {}, model.training

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.clone()
        elif isinstance(output, (tuple, list, dict)):
            for key, part in output.items() if isinstance(output, dict) else enumerate(output):
                put(f"{place}.{key}", part)

    model.eval()
    with torch.no_grad(), ExitStack() as stack:
        for name in layers:
            hook = lambda module, args, output, name=name: put(name, output)
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    model.train(training)
    return found

# %% tuples_and_dicts
# misconception: opens tuples and dicts, but no lists | hint: feat_lists_skipped
# breaks: a tuple or list
def every_tensor(model, layers, x):
    found = {}

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.detach().clone()
        elif isinstance(output, (tuple, dict)):
            for key, part in output.items() if isinstance(output, dict) else enumerate(output):
                put(f"{place}.{key}", part)

    with ExitStack() as stack:
        for name in layers:
            hook = lambda module, args, output, name=name: put(name, output)
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    return found

# %% numbers_with_a_point_only
# misconception: keeps tensors of floating point numbers only | hint: feat_integers
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, output):
        if isinstance(output, torch.Tensor):
            if output.is_floating_point():
                found[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    for name in layers:
        hook = lambda module, args, output, name=name: put(name, output)
        handles.append(model.get_submodule(name).register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return found

# %% just_this_class
# misconception: keeps objects of just the class torch.Tensor | hint: feat_overlooked
# breaks: **every** tensor that the named layers return
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, output):
        if type(output) is torch.Tensor:
            found[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    try:
        for name in layers:
            hook = lambda module, args, output, name=name: put(name, output)
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found

# %% no_scalars
# misconception: takes a tensor without dimensions for a number | hint: feat_overlooked
# breaks: A parameter, a tensor of one number, and one without any are tensors.
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, output):
        if isinstance(output, torch.Tensor) and output.dim():
            found[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    try:
        for name in layers:
            hook = lambda module, args, output, name=name: put(name, output)
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found

# %% no_empty_ones
# misconception: leaves out tensors without numbers | hint: feat_overlooked
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, output):
        if isinstance(output, torch.Tensor) and output.numel():
            found[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    try:
        for name in layers:
            hook = lambda module, args, output, name=name: put(name, output)
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found

# %% each_object_once
# misconception: keeps each tensor object once | hint: feat_one_place
# breaks: keys tell where each one was
def every_tensor(model, layers, x):
    found, handles, seen = {}, [], []

    def put(place, output):
        if isinstance(output, torch.Tensor):
            if any(one is output for one in seen):
                return
            seen.append(output)
        if isinstance(output, torch.Tensor):
            found[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    try:
        for name in layers:
            hook = lambda module, args, output, name=name: put(name, output)
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found

# %% four_levels
# misconception: opens four levels | hint: feat_one_level
# breaks: however deep the parts lie
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, output):
        if place.count(".") > 4:
            return
        if isinstance(output, torch.Tensor):
            found[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    try:
        for name in layers:
            hook = lambda module, args, output, name=name: put(name, output)
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found

# %% copies_the_first_part
# misconception: copies the first part of a tuple only | hint: feat_alias
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.detach() if place.endswith(".1") else output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    try:
        for name in layers:
            hook = lambda module, args, output, name=name: put(name, output)
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found

# %% runs_it_for_each_layer
# misconception: a run of its own for each layer, and one for a look at the outputs | hint: feat_runs_twice
# breaks: It runs `model` on `x` once
def every_tensor(model, layers, x):
    found = {}

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    model(x)
    for name in layers:
        with model.get_submodule(name).register_forward_hook(lambda module, args, output: put(name, output)):
            model(x)
    return found

# %% calls_forward
# misconception: calls the model's forward, past the hooks on the model itself | hint: feat_forward_called
# breaks: It runs `model` on `x` once
def every_tensor(model: nn.Module, layers: list[str], x: torch.Tensor) -> dict[str, torch.Tensor]:
    found = {}

    def walk(path, part):
        if isinstance(part, torch.Tensor):
            found[path] = part.detach().clone()
        elif isinstance(part, dict):
            for key, inner in part.items():
                walk(f"{path}.{key}", inner)
        elif isinstance(part, (tuple, list)):
            for place, inner in enumerate(part):
                walk(f"{path}.{place}", inner)

    with ExitStack() as stack:
        for name in layers:
            stack.enter_context(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: walk(name, o)))
        model.forward(x)
    return found

# %% to_the_device_of_the_first_parameter
# misconception: asks the model's first parameter for its device | hint: feat_first_parameter
# breaks: It runs `model` on `x` once
def every_tensor(model, layers, x):
    found = {}

    def walk(place, part):
        if isinstance(part, torch.Tensor):
            found[place] = part.detach().clone()
        elif isinstance(part, dict):
            for key, value in part.items():
                walk(f"{place}.{key}", value)
        elif isinstance(part, (tuple, list)):
            for i, value in enumerate(part):
                walk(f"{place}.{i}", value)

    with ExitStack() as stack:
        for name in layers:
            stack.enter_context(model.get_submodule(name).register_forward_hook(lambda m, a, o, n=name: walk(n, o)))
        model(x.to(next(model.parameters()).device))
    return found

# %% times_one
# misconception: copies by a product with 1, which turns true and false into whole numbers | hint: feat_digits_lost
# breaks: Keep the tensors as in `safe_features`: as they were
def every_tensor(model, layers, x):
    found = {}

    def walk(place, part):
        if isinstance(part, torch.Tensor):
            found[place] = part.detach() * 1
        elif isinstance(part, dict):
            for key, value in part.items():
                walk(f"{place}.{key}", value)
        elif isinstance(part, (tuple, list)):
            for i, value in enumerate(part):
                walk(f"{place}.{i}", value)

    with ExitStack() as stack:
        for name in layers:
            stack.enter_context(model.get_submodule(name).register_forward_hook(lambda m, a, o, n=name: walk(n, o)))
        model(x)
    return found

# %% deep_copies_without_grad
# misconception: deep copies, with autograd switched off; the copy of a parameter requires a gradient all the same | hint: feat_graph
# breaks: and without a gradient
import copy


def every_tensor(model, layers, x):
    found = {}

    def walk(place, part):
        if isinstance(part, torch.Tensor):
            found[place] = copy.deepcopy(part)
        elif isinstance(part, dict):
            for key, value in part.items():
                walk(f"{place}.{key}", value)
        elif isinstance(part, (tuple, list)):
            for i, value in enumerate(part):
                walk(f"{place}.{i}", value)

    with torch.no_grad(), ExitStack() as stack:
        for name in layers:
            stack.enter_context(model.get_submodule(name).register_forward_hook(lambda m, a, o, n=name: walk(n, o)))
        model(x)
    return found

# %% brackets_in_the_keys
# misconception: keys as torch's pytree writes them | hint: feat_other_keys
# breaks: Its keys tell where each one was
from torch.utils import _pytree as pytree


def every_tensor(model, layers, x):
    found = {}

    def keep(name, module, args, output):
        for path, leaf in pytree.tree_flatten_with_path(output)[0]:
            if isinstance(leaf, torch.Tensor):
                found[name + pytree.keystr(path)] = leaf.detach().clone()

    with ExitStack() as stack:
        for name in layers:
            stack.enter_context(model.get_submodule(name).register_forward_hook(partial(keep, name)))
        model(x)
    return found

# %% one_dict_as_default
# misconception: a dict as default argument collects over all calls | hint: feat_one_dict
def collect(place, part, found={}):
    if isinstance(part, torch.Tensor):
        found[place] = part.detach().clone()
    elif isinstance(part, dict):
        for key, value in part.items():
            collect(f"{place}.{key}", value)
    elif isinstance(part, (tuple, list)):
        for i, value in enumerate(part):
            collect(f"{place}.{i}", value)
    return found


def every_tensor(model, layers, x):
    result = {}
    with ExitStack() as stack:
        for name in layers:
            hook = lambda m, a, o, name=name: result.update(collect(name, o))
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    return result
