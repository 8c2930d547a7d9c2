# misconception: replaces the letters in every key | hint: old_name_anywhere
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            state_dict[key.replace(old, new)] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
