# misconception: prints the sum and returns nothing | hint: rebinds_output
add = Add()


def hook(module, args, output):
    print(output + 5)


add.register_forward_hook(hook)
