# misconception: takes the first and the last part of the key | hint: old_name_one_kind
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            parts = key[len(prefix) :].split(".")
            if parts[0] == old:
                state_dict[prefix + new + "." + parts[-1]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
