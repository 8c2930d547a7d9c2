# misconception: leaves calls with keywords alone | hint: rescale_by_place_only
def rescale_argument(module, factor):
    def hook(module, args):
        if len(args) == 2:
            return args[0], args[1] * factor

    return module.register_forward_pre_hook(hook)
