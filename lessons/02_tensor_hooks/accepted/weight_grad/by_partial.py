model = Model()
answer = []


def tensor_hook(store, grad):
    print("gradient:", grad)
    store.append(grad)


handle = model.W.register_hook(partial(tensor_hook, answer))
