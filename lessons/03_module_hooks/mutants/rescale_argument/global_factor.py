# misconception: one hook that reads a global factor | hint: rescale_last_factor
def scale_second(module, args, kwargs):
    if "x2" in kwargs:
        return args, {**kwargs, "x2": kwargs["x2"] * current_factor}
    return (args[0], args[1] * current_factor), kwargs


def rescale_argument(module, factor):
    global current_factor
    current_factor = factor
    return module.register_forward_pre_hook(scale_second, with_kwargs=True)
