# misconception: registers for kwargs but does not take them | hint: hook_arguments
def rescale_argument(module, factor):
    def hook(module, args):
        return args[0], args[1] * factor

    return module.register_forward_pre_hook(hook, with_kwargs=True)
