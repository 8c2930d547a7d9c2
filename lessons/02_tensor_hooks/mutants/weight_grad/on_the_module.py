# misconception: a full backward hook on the module instead | hint: hook_arguments
model = Model()
answer = []


def tensor_hook(grad):
    answer.append(grad)


model.register_full_backward_hook(tensor_hook)
