def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for key in list(state_dict):
            if not key.startswith(prefix):
                continue
            first, *rest = key[len(prefix) :].split(".")
            if first == old:
                state_dict[prefix + ".".join([new, *rest])] = state_dict.pop(key)

    return module.register_load_state_dict_pre_hook(rename)
