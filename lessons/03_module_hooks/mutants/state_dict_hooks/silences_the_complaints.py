# misconception: a post-hook that empties the lists of complaints | hint: old_name_not_loaded
def accept_old_name(module, old, new):
    def silence(module, incompatible_keys):
        incompatible_keys.missing_keys.clear()
        incompatible_keys.unexpected_keys.clear()

    module.register_load_state_dict_post_hook(silence)
