# misconception: unpacks two arguments though one may be missing | hint: rescale_by_place_only
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        x1, x2 = args
        return (x1, factor * x2), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)
