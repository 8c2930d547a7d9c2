# misconception: knows weight and bias of a Linear only | hint: old_name_one_kind
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for name in ("weight", "bias"):
            if f"{prefix}{old}.{name}" in state_dict:
                state_dict[f"{prefix}{new}.{name}"] = state_dict.pop(f"{prefix}{old}.{name}")

    module.register_load_state_dict_pre_hook(rename)
