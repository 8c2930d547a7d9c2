# misconception: adds up what the layers return | hint: saved_bytes_all_outputs
def saved_bytes(model, x):
    sizes = []
    handles = [
        layer.register_forward_hook(lambda layer, args, output: sizes.append(output.nbytes))
        for layer in model.modules()
        if not list(layer.children())
    ]
    output = model(x)
    for handle in handles:
        handle.remove()
    return output, sum(sizes)


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
