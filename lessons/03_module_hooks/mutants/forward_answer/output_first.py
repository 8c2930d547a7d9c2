# misconception: output in front of the inputs | hint: wrong_order
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(args)


def hook(module, args, output):
    answer.insert(0, output)


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
