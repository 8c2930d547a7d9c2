# misconception: replaces load_state_dict of the module, which a model around it never calls | hint: old_name_no_prefix
def accept_old_name(module, old, new):
    load = module.load_state_dict

    def renaming_load(state_dict, *args, **kwargs):
        renamed = {
            new + key[len(old) :] if (key + ".").startswith(old + ".") else key: value
            for key, value in state_dict.items()
        }
        return load(renamed, *args, **kwargs)

    module.load_state_dict = renaming_load
