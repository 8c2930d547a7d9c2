class Renaming:
    def __init__(self, old, new):
        self.old, self.new = old, new

    def __call__(self, module, state_dict, prefix, *args, **kwargs):
        keys = [key for key in state_dict if (key + ".").startswith(f"{prefix}{self.old}.")]
        for key in keys:
            tensor = state_dict.pop(key)
            state_dict[prefix + self.new + key[len(prefix + self.old) :]] = tensor


def accept_old_name(module, old, new):
    module.register_load_state_dict_pre_hook(Renaming(old, new))
