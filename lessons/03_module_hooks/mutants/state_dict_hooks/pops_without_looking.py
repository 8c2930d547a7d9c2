# misconception: expects weight and bias under the old name | hint: old_name_taken_for_granted
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for name, _ in getattr(module, new).named_parameters():
            state_dict[f"{prefix}{new}.{name}"] = state_dict.pop(f"{prefix}{old}.{name}")

    module.register_load_state_dict_pre_hook(rename)
