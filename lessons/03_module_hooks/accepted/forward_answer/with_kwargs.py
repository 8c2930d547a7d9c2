add = Add()
answer = []


def pre_hook(module, args, kwargs):
    answer.extend([*args, *kwargs.values()])


def hook(module, args, kwargs, output):
    answer.append(output)


add.register_forward_pre_hook(pre_hook, with_kwargs=True)
add.register_forward_hook(hook, with_kwargs=True, always_call=True)
