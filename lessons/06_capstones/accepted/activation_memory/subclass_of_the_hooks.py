class ActivationMemory(saved_tensors_hooks):
    def __init__(self, model):
        super().__init__(self.pack, lambda kept: kept)
        self.model = model
        self.bytes = 0
        self.by_layer = {}
        self.known = {p.untyped_storage().data_ptr() for p in model.parameters()}
        self.path = []

    def __enter__(self):
        super().__enter__()
        self.handles = []
        for name, module in self.model.named_modules():
            self.handles += [
                module.register_forward_pre_hook(lambda *_, name=name: self.path.append(name)),
                module.register_forward_hook(self.leave),
            ]
        return self

    def leave(self, module, args, output):
        self.path.pop()

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self.known:
            self.known.add(storage.data_ptr())
            self.bytes += len(storage)
            name = self.path[-1] if self.path else ""
            self.by_layer[name] = self.by_layer.get(name, 0) + len(storage)
        return tensor.detach()

    def __exit__(self, *error):
        super().__exit__(*error)
        for handle in self.handles:
            handle.remove()
