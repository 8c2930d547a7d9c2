# misconception: a forward hook of two arguments | hint: hook_arguments
add = Add()


def hook(module, output):
    output += 5


add.register_forward_hook(hook)
