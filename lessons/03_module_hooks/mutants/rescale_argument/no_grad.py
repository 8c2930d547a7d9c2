# misconception: multiplies under no_grad | hint: rescale_cuts_gradient
def rescale_argument(module, factor):
    @torch.no_grad()
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}
        return (args[0], args[1] * factor), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)
