# misconception: defines the hook and does not register it | hint: hook_never_ran
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad)
