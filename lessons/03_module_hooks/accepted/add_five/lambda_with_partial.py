add = Add()


hook = partial(lambda amount, module, args, output: output + amount, 5)

add.register_forward_hook(hook)
