# misconception: rebinds the global list at each call | hint: keeps_last_only
model = Model()
answer = []


def tensor_hook(grad):
    global answer
    answer = [grad]


model.W.register_hook(tensor_hook)
