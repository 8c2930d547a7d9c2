# misconception: scales what comes last in the dict, in whatever order the caller wrote it | hint: rescale_other_argument
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        everything = [*args, *kwargs.values()]
        everything[1] = everything[1] * factor
        return tuple(everything), {}

    return module.register_forward_pre_hook(hook, with_kwargs=True)
