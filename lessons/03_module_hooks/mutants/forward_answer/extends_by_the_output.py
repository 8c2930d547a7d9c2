# misconception: takes the output apart | hint: takes_elements_apart
add = Add()
answer = []


def pre_hook(module, args):
    for value in args:
        answer.extend(value)


def hook(module, args, output):
    answer.extend(output)


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
