# misconception: the pre-hook normalises what goes in | hint: watcher_changes_output
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(args)
    return tuple(value / value.norm() for value in args)


def hook(module, args, output):
    answer.append(answer[0] + answer[1])


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
