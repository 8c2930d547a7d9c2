# misconception: the constant that is right for a loss | hint: ignores_argument
def func(grad):
    return torch.full_like(grad, 2.0)
