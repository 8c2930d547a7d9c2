def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            kwargs["x2"] = kwargs["x2"] * factor
        else:
            return (args[0], factor * args[1]), kwargs

    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    return handle
