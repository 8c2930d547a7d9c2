# misconception: leaves positional calls alone | hint: rescale_without_effect
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            kwargs["x2"] = kwargs["x2"] * factor
        return args, kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)
