# misconception: a full backward hook, which never runs in forward | hint: one_side_missing
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(args)


def hook(module, args, output):
    answer.append(output)


add.register_forward_pre_hook(pre_hook)
add.register_full_backward_hook(hook)
