# misconception: adds to the notebook's tensors | hint: reads_globals
add = Add()


x1, x2 = torch.rand(1), torch.rand(1)


def hook(module, args, output):
    return x1 + x2 + 5 + 0 * output


add.register_forward_hook(hook)
