# misconception: detaches the scaled argument | hint: rescale_cuts_gradient
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"].detach() * factor}
        return (args[0], args[1].detach() * factor), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)
