# misconception: the register line ran twice | hint: module_hook_twice
add = Add()


def hook(module, args, output):
    return output + 5


add.register_forward_hook(hook)
add.register_forward_hook(hook)
