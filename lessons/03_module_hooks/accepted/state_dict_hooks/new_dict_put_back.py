def accept_old_name(module, old, new):
    def rename(module, state_dict, prefix, *args):
        renamed = {}
        for key, value in state_dict.items():
            inner = key.removeprefix(prefix) if key.startswith(prefix) else None
            if inner is not None and (inner == old or inner.startswith(f"{old}.")):
                key = prefix + new + inner[len(old) :]
            renamed[key] = value
        state_dict.clear()
        state_dict.update(renamed)

    module.register_load_state_dict_pre_hook(rename)
