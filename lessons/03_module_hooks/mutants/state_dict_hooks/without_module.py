# misconception: a hook without the module, so that all arguments are off by one | hint: old_name_hook_arguments
def accept_old_name(module, old, new):
    def rename(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
