# misconception: a forward hook of two arguments | hint: hook_arguments
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(args)


def hook(module, output):
    answer.append(output)


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
