# misconception: the tuple of inputs as one entry | hint: keeps_the_tuple
add = Add()
answer = []


def pre_hook(module, args):
    answer.append(args)


def hook(module, args, output):
    answer.append(output)


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
