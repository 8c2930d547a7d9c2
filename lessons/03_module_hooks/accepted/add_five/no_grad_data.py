add = Add()


def hook(module, args, output):
    with torch.no_grad():
        output.data += torch.tensor([5.0])


add.register_forward_hook(hook)
