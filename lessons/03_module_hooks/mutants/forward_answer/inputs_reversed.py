# misconception: the inputs in reverse order | hint: wrong_order
add = Add()
answer = []


def pre_hook(module, args):
    for value in args:
        answer.insert(0, value)


def hook(module, args, output):
    answer.append(output)


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
