# misconception: returns 5 alone | hint: returns_only_five
add = Add()


def hook(module, args, output):
    return torch.tensor([5.0])


add.register_forward_hook(hook)
