# misconception: sets the value by .data, so that the gradient goes around the factor | hint: rescale_cuts_gradient
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        x2 = kwargs["x2"] if "x2" in kwargs else args[1]
        scaled = x2.clone()
        scaled.data *= factor
        if "x2" in kwargs:
            return args, {**kwargs, "x2": scaled}
        return (args[0], scaled), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)
