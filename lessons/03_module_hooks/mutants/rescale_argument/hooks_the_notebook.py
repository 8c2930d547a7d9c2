# misconception: registers on the notebook's module | hint: function_uses_global
add = Add()


def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}
        return (args[0], args[1] * factor), kwargs

    return add.register_forward_pre_hook(hook, with_kwargs=True)
