# misconception: defines the hook and returns it | hint: returns_nothing
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}
        return (args[0], args[1] * factor), kwargs

    return hook
