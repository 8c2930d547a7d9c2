# misconception: the pre-hook returns the list, which becomes the only input | hint: drops_argument
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(args)
    return answer


def hook(module, args, output):
    answer.append(output)


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
