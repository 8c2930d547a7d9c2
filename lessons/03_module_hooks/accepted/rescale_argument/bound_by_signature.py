import inspect


def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
        bound.arguments["x2"] = torch.mul(bound.arguments["x2"], factor)
        return bound.args, bound.kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)
