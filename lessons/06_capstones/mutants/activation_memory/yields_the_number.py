# misconception: hands out the number as it is at the beginning | hint: memory_no_object
@contextmanager
def ActivationMemory(model):
    total = 0
    seen = {p.untyped_storage().data_ptr() for p in model.parameters()}

    def pack(tensor):
        nonlocal total
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in seen:
            seen.add(storage.data_ptr())
            total += storage.nbytes()
        return tensor.detach()

    with saved_tensors_hooks(pack, lambda kept: kept):
        yield total
