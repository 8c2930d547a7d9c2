# misconception: fills what is missing with the module's own tensors | hint: old_name_hides_errors
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)
        for key, value in module.state_dict().items():
            state_dict.setdefault(prefix + key, value)

    module.register_load_state_dict_pre_hook(rename)
