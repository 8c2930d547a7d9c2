# misconception: registers on the child, whose keys are filtered already | hint: old_name_not_started
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if key.startswith(old + "."):
                state_dict[new + key[len(old) :]] = state_dict.pop(key)

    getattr(module, new).register_load_state_dict_pre_hook(rename)
