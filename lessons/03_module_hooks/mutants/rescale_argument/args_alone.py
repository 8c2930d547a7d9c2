# misconception: returns the arguments without the dict | hint: rescale_no_pair
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            kwargs["x2"] = kwargs["x2"] * factor
            return kwargs
        return args[0], args[1] * factor

    return module.register_forward_pre_hook(hook, with_kwargs=True)
