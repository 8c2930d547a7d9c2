# misconception: hooks on a module that nobody calls | hint: hook_never_ran
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(args)


def hook(module, args, output):
    answer.append(output)


Add().register_forward_pre_hook(pre_hook)
Add().register_forward_hook(hook)
