# misconception: gives the local name a new dict | hint: old_name_without_effect
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        state_dict = {
            prefix + new + key[len(prefix + old) :] if (key + ".").startswith(prefix + old + ".") else key: value
            for key, value in state_dict.items()
        }

    module.register_load_state_dict_pre_hook(rename)
