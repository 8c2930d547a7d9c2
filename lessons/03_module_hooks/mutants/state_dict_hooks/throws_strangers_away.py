# misconception: throws away what it does not know | hint: old_name_hides_errors
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        known = {prefix + key for key in module.state_dict()}
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)
        for key in list(state_dict):
            if key not in known:
                del state_dict[key]

    module.register_load_state_dict_pre_hook(rename)
