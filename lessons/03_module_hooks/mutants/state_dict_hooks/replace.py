# misconception: replaces the old name wherever it stands in the key | hint: old_name_anywhere
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if old + "." in key or key.endswith(old):
                state_dict[key.replace(old, new)] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
