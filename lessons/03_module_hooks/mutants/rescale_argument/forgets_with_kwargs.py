# misconception: takes kwargs but does not register for them | hint: hook_arguments
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            kwargs["x2"] = kwargs["x2"] * factor
            return args, kwargs
        return (args[0], args[1] * factor), kwargs

    return module.register_forward_pre_hook(hook)
