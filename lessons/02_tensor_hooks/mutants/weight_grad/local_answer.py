# misconception: assigns to a local name | hint: local_name
model = Model()
answer = []


def tensor_hook(grad):
    answer = [grad]


model.W.register_hook(tensor_hook)
