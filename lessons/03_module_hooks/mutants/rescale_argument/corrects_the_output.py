# misconception: takes the missing part of x2 off the output | hint: formula_of_visible_forward
def rescale_argument(module, factor):
    def hook(module, args, kwargs, output):
        x2 = args[1] if len(args) > 1 else kwargs["x2"]
        return output - (1 - factor) * x2

    return module.register_forward_hook(hook, with_kwargs=True)
