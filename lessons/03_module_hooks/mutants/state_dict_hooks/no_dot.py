# misconception: a condition that linear2 fulfils too | hint: old_name_anywhere
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if key.startswith(prefix + old):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
