# misconception: gives saved checkpoints the old name as well | hint: old_name_renames_module
def accept_old_name(module, old, new):
    def on_load(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                state_dict[prefix + new + key[len(prefix + old) :]] = state_dict.pop(key)

    def on_save(module, state_dict, prefix, local_metadata):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + new + "."):
                state_dict[prefix + old + key[len(prefix + new) :]] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(on_load)
    module.register_state_dict_post_hook(on_save)
