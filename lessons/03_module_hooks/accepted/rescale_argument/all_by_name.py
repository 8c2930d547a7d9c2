def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        named = dict(zip(("x1", "x2"), args, strict=False)) | kwargs
        named["x2"] = named["x2"] * factor
        return (), named

    return module.register_forward_pre_hook(hook, with_kwargs=True)
