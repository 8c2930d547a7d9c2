# misconception: a pre-hook that returns one tensor | hint: drops_argument
add = Add()


def hook(module, args):
    return args[0] + 5


add.register_forward_pre_hook(hook)
