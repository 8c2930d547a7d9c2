# misconception: adds 5 to the first input | hint: five_to_an_input
add = Add()


def hook(module, args):
    x1, x2 = args
    return x1 + 5, x2


add.register_forward_pre_hook(hook)
