class ActivationMemory:
    """Reads the total when a module begins and ends, and takes off what its parts have taken."""

    def __init__(self, model):
        self.model = model
        self.bytes = 0

    def __enter__(self):
        self.by_layer = {name: 0 for name, _ in self.model.named_modules()}
        self.open = []
        storages = {}
        skip = [p.data.untyped_storage().data_ptr() for p in self.model.parameters()]

        def pack(x):
            s = x.untyped_storage()
            if s.data_ptr() not in skip:
                storages[s.data_ptr()] = s.nbytes()
                self.bytes = sum(storages.values())
            return x.detach()

        def begin(module, args):
            self.open.append([self.bytes, 0])

        def end(name, module, args, output):
            start, in_parts = self.open.pop()
            self.by_layer[name] += self.bytes - start - in_parts
            if self.open:
                self.open[-1][1] += self.bytes - start

        self.handles = [m.register_forward_pre_hook(begin) for m in self.model.modules()]
        self.handles += [m.register_forward_hook(partial(end, name)) for name, m in self.model.named_modules()]
        self.hooks = saved_tensors_hooks(pack, lambda x: x)
        self.hooks.__enter__()
        return self

    def __exit__(self, *args):
        self.hooks.__exit__()
        for handle in self.handles:
            handle.remove()
        self.by_layer[""] += self.bytes - sum(self.by_layer.values())
