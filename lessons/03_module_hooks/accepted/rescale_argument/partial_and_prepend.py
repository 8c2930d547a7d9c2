def scale(factor, module, args, kwargs):
    if len(args) == 2:
        return (args[0], args[1] * factor), kwargs
    kwargs = dict(kwargs)
    kwargs["x2"] = kwargs["x2"] * factor
    return args, kwargs


def rescale_argument(module, factor):
    return module.register_forward_pre_hook(partial(scale, factor), prepend=True, with_kwargs=True)
