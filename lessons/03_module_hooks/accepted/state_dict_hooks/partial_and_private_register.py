def rename(old, new, state_dict, prefix, *the_rest):
    was, becomes = prefix + old, prefix + new
    for key in tuple(state_dict.keys()):
        if key == was:
            state_dict[becomes] = state_dict.pop(key)
        elif key.startswith(was + "."):
            state_dict[becomes + key[len(was) :]] = state_dict.pop(key)


def accept_old_name(module, old, new):
    module._register_load_state_dict_pre_hook(partial(rename, old, new))
