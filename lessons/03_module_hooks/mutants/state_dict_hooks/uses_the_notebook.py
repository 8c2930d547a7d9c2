# misconception: registers on the notebook's module | hint: function_uses_global
head = nn.Linear(3, 2)


def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    head.register_load_state_dict_pre_hook(rename)
