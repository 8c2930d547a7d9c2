# misconception: adds the child under its old name as well | hint: old_name_renames_module
def accept_old_name(module, old, new):
    setattr(module, old, getattr(module, new))
