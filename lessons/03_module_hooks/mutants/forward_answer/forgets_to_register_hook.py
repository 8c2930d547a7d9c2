# misconception: the second hook is not registered | hint: one_side_missing
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(args)


def hook(module, args, output):
    answer.append(output)


add.register_forward_pre_hook(pre_hook)
