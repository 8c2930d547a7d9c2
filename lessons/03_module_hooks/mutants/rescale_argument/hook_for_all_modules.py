# misconception: registers a hook for all modules | hint: rescale_everywhere
def rescale_argument(module, factor):
    wanted = type(module)

    def hook(module, args):
        if isinstance(module, wanted) and len(args) == 2:
            return args[0], args[1] * factor

    def keyword_hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}

    module.register_forward_pre_hook(keyword_hook, with_kwargs=True)
    return torch.nn.modules.module.register_module_forward_pre_hook(hook)
