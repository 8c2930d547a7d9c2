# misconception: renames any part between dots | hint: old_name_anywhere
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            inner = key[len(prefix) :].split(".")
            if old in inner:
                renamed = [new if part == old else part for part in inner]
                state_dict[prefix + ".".join(renamed)] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
