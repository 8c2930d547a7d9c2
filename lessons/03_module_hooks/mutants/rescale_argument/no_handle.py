# misconception: does not return the handle | hint: rescale_no_handle
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}
        return (args[0], args[1] * factor), kwargs

    module.register_forward_pre_hook(hook, with_kwargs=True)
