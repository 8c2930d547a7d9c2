# misconception: multiplies the caller's data, so that autograd does not complain | hint: rescale_writes_into_x2
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        x2 = kwargs["x2"] if "x2" in kwargs else args[1]
        x2.data.mul_(factor)

    return module.register_forward_pre_hook(hook, with_kwargs=True)
