# misconception: the size of the saved slice instead of its storage | hint: memory_tensor_not_storage
class ActivationMemory:
    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.bytes = 0
        self.by_layer = {}

    def __enter__(self):
        own = {p.untyped_storage().data_ptr() for p in self.model.parameters()}
        seen = set()
        running = []

        def begin(name, module, args):
            running.append(name)

        def end(module, args, output):
            running.pop()

        def count(size):
            self.bytes += size
            layer = running[-1] if running else ""
            self.by_layer[layer] = self.by_layer.get(layer, 0) + size

        def pack(tensor):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in own and storage.data_ptr() not in seen:
                seen.add(storage.data_ptr())
                count(tensor.numel() * tensor.element_size())
            return tensor.detach()

        def unpack(kept):
            return kept

        self.handles = []
        for name, module in self.model.named_modules():
            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))
            self.handles.append(module.register_forward_hook(end))
        self.hooks = saved_tensors_hooks(pack, unpack)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)
        for handle in self.handles:
            handle.remove()
