# misconception: times a tensor of one element: a scalar gradient gets a dimension | hint: hook_changes_shape
def func(grad):
    return grad * torch.tensor([2.0])
