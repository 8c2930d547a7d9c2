# misconception: the total of lesson 02, and nothing about the layers | hint: memory_layers_missing
class ActivationMemory:
    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.bytes = 0
        self.by_layer = {}

    def __enter__(self):
        seen = {p.untyped_storage().data_ptr() for p in self.model.parameters()}

        def pack(tensor):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in seen:
                seen.add(storage.data_ptr())
                self.bytes += storage.nbytes()
            return tensor.detach()

        self.hooks = saved_tensors_hooks(pack, lambda kept: kept)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)
