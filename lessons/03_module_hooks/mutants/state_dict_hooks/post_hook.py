# misconception: a post-hook, which gets no tensors | hint: old_name_too_late
def accept_old_name(module, old, new):
    def rename(module, incompatible_keys):
        for key in list(incompatible_keys):
            if key.startswith(old + "."):
                incompatible_keys[new + key[len(old) :]] = incompatible_keys.pop(key)

    module.register_load_state_dict_post_hook(rename)
