# misconception: changes an input in place when forward is over | hint: five_to_an_input
add = Add()


def hook(module, args, output):
    args[0].add_(5)


add.register_forward_hook(hook)
