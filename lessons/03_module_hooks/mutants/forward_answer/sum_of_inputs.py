# misconception: computes the output by the visible formula | hint: formula_of_visible_forward
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(args)


def hook(module, args, output):
    answer.append(args[0] + args[1])


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
