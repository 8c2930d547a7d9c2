# %% new_dict_put_back
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *args):
        renamed = {}
        for key, value in state_dict.items():
            inner = key.removeprefix(prefix) if key.startswith(prefix) else None
            if inner is not None and (inner == old or inner.startswith(f"{old}.")):
                key = prefix + new + inner[len(old) :]
            renamed[key] = value
        state_dict.clear()
        state_dict.update(renamed)

    module.register_load_state_dict_pre_hook(rename)

# %% object_with_call
class Renaming:
    def __init__(self, old, new):
        self.old, self.new = old, new

    def __call__(self, module, state_dict, prefix, *args, **kwargs):
        keys = [key for key in state_dict if (key + ".").startswith(f"{prefix}{self.old}.")]
        for key in keys:
            tensor = state_dict.pop(key)
            state_dict[prefix + self.new + key[len(prefix + self.old) :]] = tensor


def accept_old_name(module, old, new):
    module.register_load_state_dict_pre_hook(Renaming(old, new))

# %% partial_and_private_register
def rename(old, new, state_dict, prefix, *the_rest):
    was, becomes = prefix + old, prefix + new
    for key in tuple(state_dict.keys()):
        if key == was:
            state_dict[becomes] = state_dict.pop(key)
        elif key.startswith(was + "."):
            state_dict[becomes + key[len(was) :]] = state_dict.pop(key)


def accept_old_name(module, old, new):
    module._register_load_state_dict_pre_hook(partial(rename, old, new))

# %% regular_expression
import re


def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *_):
        pattern = re.compile(rf"{re.escape(prefix + old)}(?=\.|$)")
        for key in [key for key in state_dict if pattern.match(key)]:
            state_dict[pattern.sub(prefix + new, key, count=1)] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)

# %% split_at_the_prefix
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for key in list(state_dict):
            if not key.startswith(prefix):
                continue
            first, *rest = key[len(prefix) :].split(".")
            if first == old:
                state_dict[prefix + ".".join([new, *rest])] = state_dict.pop(key)

    return module.register_load_state_dict_pre_hook(rename)

# %% moves_a_plan
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *the_rest):
        was, becomes = f"{prefix}{old}", f"{prefix}{new}"
        plan = {key: becomes + key[len(was) :] for key in state_dict if key == was or key.startswith(was + ".")}
        for key, target in plan.items():
            state_dict[target] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
