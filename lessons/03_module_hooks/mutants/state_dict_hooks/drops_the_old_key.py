# misconception: only drops the old key | hint: old_name_only_dropped
def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *rest):
        for key in list(state_dict):
            if (key + ".").startswith(prefix + old + "."):
                del state_dict[key]

    module.register_load_state_dict_pre_hook(rename)
