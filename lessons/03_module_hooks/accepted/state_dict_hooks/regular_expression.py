import re


def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *_):
        pattern = re.compile(rf"{re.escape(prefix + old)}(?=\.|$)")
        for key in [key for key in state_dict if pattern.match(key)]:
            state_dict[pattern.sub(prefix + new, key, count=1)] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
