# misconception: returns the dict alone for keyword calls | hint: rescale_no_pair
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return {**kwargs, "x2": kwargs["x2"] * factor}
        return (args[0], args[1] * factor), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)
