add = Add()
answer = []


def pre_hook(store, module, args):
    x1, x2 = args
    store += [x1, x2]


def hook(store, module, args, output):
    store.append(output)


add.register_forward_pre_hook(partial(pre_hook, answer))
add.register_forward_hook(partial(hook, answer))
