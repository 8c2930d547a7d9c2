# misconception: returns a tuple | hint: none
add = Add()


def hook(module, args, output):
    return (output + 5,)


add.register_forward_hook(hook)
