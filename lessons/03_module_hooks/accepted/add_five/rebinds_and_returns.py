add = Add()


def hook(module, input, output):
    output = output + 5
    return output


add.register_forward_hook(hook)
