# misconception: computes new arguments and does not return them | hint: rescale_without_effect
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            kwargs = {**kwargs, "x2": kwargs["x2"] * factor}
        else:
            args = (args[0], args[1] * factor)

    return module.register_forward_pre_hook(hook, with_kwargs=True)
