# misconception: the names of the example, typed in | hint: old_name_one_kind
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if key.startswith(prefix + "linear."):
                state_dict[prefix + "fc." + key[len(prefix) + 7 :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
