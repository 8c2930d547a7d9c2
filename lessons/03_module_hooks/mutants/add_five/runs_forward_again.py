# misconception: runs forward a second time | hint: recomputes_output
add = Add()


def hook(module, args, output):
    return module.forward(*args) + 5


add.register_forward_hook(hook)
