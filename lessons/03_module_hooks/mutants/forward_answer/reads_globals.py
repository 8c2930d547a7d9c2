# misconception: stores the notebook's tensors | hint: reads_globals
add = Add()
answer = []


x1, x2 = torch.rand(3), torch.rand(3)


def pre_hook(module, args):
    answer.append(x1)
    answer.append(x2)


def hook(module, args, output):
    answer.append(x1 + x2)


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
