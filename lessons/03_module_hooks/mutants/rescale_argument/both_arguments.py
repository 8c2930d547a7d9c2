# misconception: scales every argument | hint: rescale_other_argument
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        return tuple(arg * factor for arg in args), {name: arg * factor for name, arg in kwargs.items()}

    return module.register_forward_pre_hook(hook, with_kwargs=True)
