# misconception: compares with the old name alone | hint: old_name_no_prefix
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if key == old or key.startswith(old + "."):
                state_dict[new + key[len(old) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
