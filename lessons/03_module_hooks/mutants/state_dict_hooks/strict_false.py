# misconception: makes loading never strict | hint: old_name_not_loaded
def accept_old_name(module, old, new):
    module.load_state_dict = partial(nn.Module.load_state_dict, module, strict=False)
