# misconception: puts a keyword argument into args and leaves it in kwargs | hint: rescale_handed_over_twice
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        x1 = args[0] if len(args) > 0 else kwargs["x1"]
        x2 = args[1] if len(args) > 1 else kwargs["x2"]
        return (x1, x2 * factor), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)
