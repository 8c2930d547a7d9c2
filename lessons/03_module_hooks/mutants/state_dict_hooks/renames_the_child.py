# misconception: gives the child its old name back | hint: old_name_renames_module
def accept_old_name(module, old, new):
    child = getattr(module, new)
    delattr(module, new)
    setattr(module, old, child)
