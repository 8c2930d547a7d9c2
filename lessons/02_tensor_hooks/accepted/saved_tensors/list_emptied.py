from torch.autograd.graph import saved_tensors_hooks


def saved_bytes(model: nn.Module, x: torch.Tensor) -> tuple:
    saved = []

    def pack(tensor):
        saved.append(tensor.detach())
        return saved[-1]

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        output = model(x)
    own = [p.untyped_storage().data_ptr() for p in model.parameters()]
    unique = {t.untyped_storage().data_ptr(): t.untyped_storage() for t in saved}
    saved.clear()
    return output, sum(s.nbytes() for address, s in unique.items() if address not in own)


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
