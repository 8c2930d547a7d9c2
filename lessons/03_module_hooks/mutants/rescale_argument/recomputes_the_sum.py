# misconception: a forward hook that computes the sum of Add anew | hint: formula_of_visible_forward
def rescale_argument(module, factor):
    def hook(module, args, kwargs, output):
        x1 = args[0] if len(args) > 0 else kwargs["x1"]
        x2 = args[1] if len(args) > 1 else kwargs["x2"]
        return x1 + factor * x2

    return module.register_forward_hook(hook, with_kwargs=True)
