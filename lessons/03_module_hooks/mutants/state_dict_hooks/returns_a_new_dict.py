# misconception: returns a new dict | hint: old_name_without_effect
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        renamed = {}
        for key, value in state_dict.items():
            if (key + ".").startswith(prefix + old + "."):
                key = prefix + new + key[len(prefix + old) :]
            renamed[key] = value
        return renamed

    module.register_load_state_dict_pre_hook(rename)
