# misconception: assigns to a local answer | hint: stores_nothing
add = Add()
answer = []


def pre_hook(module, args):
    answer = list(args)


def hook(module, args, output):
    answer = [*args, output]


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
