# misconception: renames when saving | hint: old_name_not_started
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, local_metadata):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    module.register_state_dict_post_hook(rename)
