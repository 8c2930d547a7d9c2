class ActivationMemory:
    """Takes notes while the block runs, and adds them up when somebody asks."""

    def __init__(self, model):
        self.model = model
        self.notes = {}
        self.begun = []

    @property
    def bytes(self) -> int:
        return sum(self.by_layer.values())

    @property
    def by_layer(self) -> dict:
        mine = [p.untyped_storage().data_ptr() for p in self.model.parameters()]
        result = dict.fromkeys((name for name, _ in self.model.named_modules()), 0)
        for address, (name, size) in self.notes.items():
            if address not in mine:
                result[name] += size
        return result

    def _pack(self, tensor):
        storage = tensor.untyped_storage()
        self.notes.setdefault(storage.data_ptr(), (self.begun[-1] if self.begun else "", storage.nbytes()))
        return (tensor.detach(),)

    def _unpack(self, packed):
        return packed[0]

    def __enter__(self):
        self._handles = []
        for name, module in self.model.named_modules():
            self._handles.append(module.register_forward_pre_hook(self._begin(name)))
            self._handles.append(module.register_forward_hook(self._end, always_call=True))
        self._context = torch.autograd.graph.saved_tensors_hooks(self._pack, self._unpack)
        self._context.__enter__()
        return self

    def _begin(self, name):
        def hook(module, args):
            self.begun.append(name)

        return hook

    def _end(self, module, args, output):
        self.begun.pop()

    def __exit__(self, kind, error, trace):
        while self._handles:
            self._handles.pop().remove()
        return self._context.__exit__(kind, error, trace)
