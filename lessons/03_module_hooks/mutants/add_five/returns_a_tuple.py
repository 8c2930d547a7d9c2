# misconception: returns a tuple | hint: tuple_for_output
add = Add()


def hook(module, args, output):
    return (output + 5,)


add.register_forward_hook(hook)
