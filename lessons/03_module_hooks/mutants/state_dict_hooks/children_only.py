# misconception: knows children, not parameters | hint: old_name_one_kind
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if key.startswith(prefix + old + "."):
                state_dict[prefix + new + "." + key[len(prefix + old) + 1 :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
