class ActivationMemory:
    def __init__(self, model):
        self.model = model
        self.parameters = set(model.parameters())
        self.bytes = 0
        self.by_layer = {}
        self.addresses = []
        self.stack = []

    def pack(self, tensor):
        base = tensor if tensor._base is None else tensor._base  # a view knows the tensor that it is a view of
        address = base.untyped_storage().data_ptr()
        if base not in self.parameters and address not in self.addresses:
            self.addresses.append(address)
            self.bytes += base.untyped_storage().nbytes()
            name = (self.stack or [""])[-1]
            self.by_layer.setdefault(name, 0)
            self.by_layer[name] += base.untyped_storage().nbytes()
        return tensor.detach()

    def unpack(self, tensor):
        return tensor

    def __enter__(self):
        self.handles = []
        for name, module in self.model.named_modules():
            def pre_hook(module, args, name=name):
                self.stack.append(name)

            def hook(module, args, output):
                self.stack.pop()

            self.handles.append(module.register_forward_pre_hook(pre_hook))
            self.handles.append(module.register_forward_hook(hook))
        self.hooks = saved_tensors_hooks(self.pack, self.unpack)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)
        self.hooks = None
        for handle in self.handles:
            handle.remove()
