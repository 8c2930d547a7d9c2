# misconception: adds up all saves | hint: saved_bytes_everything
def saved_bytes(model, x):
    sizes = []

    def pack(tensor):
        sizes.append(tensor.nbytes)
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(sizes)


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
