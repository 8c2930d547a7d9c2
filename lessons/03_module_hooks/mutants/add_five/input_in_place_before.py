# misconception: changes the caller's input in place | hint: five_to_an_input
add = Add()


def hook(module, args):
    args[1].add_(5)


add.register_forward_pre_hook(hook)
