# misconception: knows nothing of keyword arguments | hint: rescale_by_place_only
def rescale_argument(module, factor):
    def hook(module, args):
        return args[0], args[1] * factor

    return module.register_forward_pre_hook(hook)
