# misconception: a forward hook that scales the output | hint: rescale_other_argument
def rescale_argument(module, factor):
    def hook(module, args, output):
        return output * factor

    return module.register_forward_hook(hook)
