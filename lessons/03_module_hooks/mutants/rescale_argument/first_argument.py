# misconception: scales x1 | hint: rescale_other_argument
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x1" in kwargs:
            return args, {**kwargs, "x1": kwargs["x1"] * factor}
        return (args[0] * factor, *args[1:]), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)
