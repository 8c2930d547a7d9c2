# misconception: stores lists of numbers | hint: numbers_for_tensors
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(value.tolist() for value in args)


def hook(module, args, output):
    answer.append(output.tolist())


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
