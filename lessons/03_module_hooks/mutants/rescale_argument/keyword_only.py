# misconception: expects x2 among the keyword arguments | hint: rescale_by_name_only
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        kwargs["x2"] = kwargs["x2"] * factor
        return args, kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)
