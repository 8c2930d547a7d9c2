# misconception: computes the sum again | hint: recomputes_output
add = Add()


def hook(module, args, output):
    return args[0] + args[1] + 5


add.register_forward_hook(hook)
