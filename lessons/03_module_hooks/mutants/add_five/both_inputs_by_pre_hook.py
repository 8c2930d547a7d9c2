# misconception: adds 5 to both inputs | hint: five_to_an_input
add = Add()


def hook(module, args):
    return tuple(value + 5 for value in args)


add.register_forward_pre_hook(hook)
