# misconception: a constant, right for a loss | hint: ignores_argument
def func(grad):
    return torch.tensor(2.0)
