# misconception: registers one hook for each way and returns the second handle | hint: handle_of_another
def rescale_argument(module, factor):
    def by_place(module, args):
        if len(args) == 2:
            return args[0], args[1] * factor

    def by_name(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}

    module.register_forward_pre_hook(by_place)
    return module.register_forward_pre_hook(by_name, with_kwargs=True)
