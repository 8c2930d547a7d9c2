# misconception: renames new to old | hint: old_name_without_effect
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + new + "."):
                state_dict[prefix + old + key[len(prefix + new) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
