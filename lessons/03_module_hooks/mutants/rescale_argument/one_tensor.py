# misconception: returns one tensor, which becomes the only argument | hint: drops_argument
def rescale_argument(module, factor):
    def hook(module, args):
        return args[1] * factor

    return module.register_forward_pre_hook(hook)
