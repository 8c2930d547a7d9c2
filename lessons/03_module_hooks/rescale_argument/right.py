# %% bound_by_signature
import inspect


def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
        bound.arguments["x2"] = torch.mul(bound.arguments["x2"], factor)
        return bound.args, bound.kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% changes_the_dict_and_returns_nothing
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            kwargs["x2"] = kwargs["x2"] * factor
        else:
            return (args[0], factor * args[1]), kwargs

    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    return handle

# %% object_with_call
class Rescale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, module, args, kwargs):
        args = list(args)
        if len(args) > 1:
            args[1] = args[1] * self.factor
        else:
            kwargs["x2"] = kwargs["x2"] * self.factor
        return tuple(args), kwargs


def rescale_argument(module, factor):
    return module.register_forward_pre_hook(Rescale(factor), with_kwargs=True)

# %% partial_and_prepend
def scale(factor, module, args, kwargs):
    if len(args) == 2:
        return (args[0], args[1] * factor), kwargs
    kwargs = dict(kwargs)
    kwargs["x2"] = kwargs["x2"] * factor
    return args, kwargs


def rescale_argument(module, factor):
    return module.register_forward_pre_hook(partial(scale, factor), prepend=True, with_kwargs=True)

# %% takes_both_by_place
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        x1 = args[0] if len(args) > 0 else kwargs["x1"]
        x2 = args[1] if len(args) > 1 else kwargs["x2"]
        return (x1, x2 * factor), {}

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% knob_with_remove
class Knob:
    def __init__(self, module, factor):
        self.factor = factor
        self.handle = module.register_forward_pre_hook(self.turn, with_kwargs=True)

    def turn(self, module, args, kwargs):
        x1, x2 = (*args, *(kwargs[name] for name in ("x1", "x2") if name in kwargs))
        return (x1, self.factor * x2), {}

    def remove(self):
        self.handle.remove()


def rescale_argument(module, factor):
    return Knob(module, factor)

# %% all_by_name
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        named = {**dict(zip(("x1", "x2"), args)), **kwargs}
        named["x2"] = factor * named["x2"]
        return (), named

    return module.register_forward_pre_hook(hook, with_kwargs=True)
