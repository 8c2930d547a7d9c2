# misconception: gives the name another value and returns nothing | hint: rebinds_output
add = Add()


def hook(module, args, output):
    output = output + 5


add.register_forward_hook(hook)
