# misconception: adds to a global list with + inside the function | hint: undefined_name
model = Model()
answer = []


def tensor_hook(grad):
    answer += [grad]


model.W.register_hook(tensor_hook)
