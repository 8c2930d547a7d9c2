# misconception: defines hooks without registering | hint: hook_never_ran
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(args)


def hook(module, args, output):
    answer.append(output)
