# misconception: through Python numbers, so the dtype is lost | hint: hook_changes_shape
def func(grad):
    return 2 * torch.tensor(grad.tolist())
