# misconception: the register lines ran twice | hint: module_hook_twice
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(args)


def hook(module, args, output):
    answer.append(output)


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
