# %% difference_without_children
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

# %% exit_stack_and_weak_references
from contextlib import ExitStack

from torch.multiprocessing.reductions import StorageWeakRef


class ActivationMemory(ExitStack):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.bytes = 0
        self.by_layer = {name: 0 for name, _ in model.named_modules()}
        self.current = ""

    def __enter__(self):
        self.refs = {StorageWeakRef(p.untyped_storage()).cdata for p in self.model.parameters()}
        self.alive = []
        self.outer = []
        for name, module in self.model.named_modules():
            self.enter_context(module.register_forward_pre_hook(partial(self.begin, name)))
            self.enter_context(module.register_forward_hook(self.end))
        self.enter_context(saved_tensors_hooks(self.pack, self.unpack))
        return super().__enter__()

    def begin(self, name, module, args):
        self.outer.append(self.current)
        self.current = name

    def end(self, module, args, output):
        self.current = self.outer.pop()

    def pack(self, tensor):
        ref = StorageWeakRef(tensor.untyped_storage())
        if ref.cdata not in self.refs:
            self.refs.add(ref.cdata)
            self.alive.append(ref)
            self.bytes += tensor.untyped_storage().nbytes()
            self.by_layer[self.current] += tensor.untyped_storage().nbytes()
        return tensor.detach()

    def unpack(self, kept):
        return kept

# %% generator_with_namespace
from collections import Counter
from types import SimpleNamespace


@contextmanager
def ActivationMemory(model):
    memory = SimpleNamespace(bytes=0, by_layer=Counter())
    seen = {}
    stack = [""]
    handles = []

    def pack(t):
        address = t.untyped_storage().data_ptr()
        is_parameter = any(address == p.untyped_storage().data_ptr() for p in model.parameters())
        if not is_parameter and address not in seen:
            seen[address] = t.untyped_storage().size()
            memory.by_layer[stack[-1]] += seen[address]
        memory.bytes = sum(seen.values())
        return t.detach()

    def after(module, args, output):
        del stack[-1]

    try:
        for name, module in model.named_modules():
            handles.append(module.register_forward_pre_hook(lambda m, a, name=name: stack.append(name)))
            handles.append(module.register_forward_hook(after))
        with saved_tensors_hooks(pack, lambda t: t):
            yield memory
    finally:
        for handle in handles:
            handle.remove()

# %% global_hooks
class ActivationMemory:
    def __init__(self, model):
        self.names = {module: name for name, module in model.named_modules()}
        self.model = model

    def __enter__(self):
        self.bytes = 0
        self.by_layer = {}
        self.modules = []
        everywhere = torch.nn.modules.module
        self.handles = [
            everywhere.register_module_forward_pre_hook(self.begin),
            everywhere.register_module_forward_hook(self.end),
        ]
        self.counted = []
        for parameter in self.model.parameters():
            self.counted.append(parameter.untyped_storage().data_ptr())
        self.hooks = saved_tensors_hooks(self.pack, torch.Tensor.detach)
        self.hooks.__enter__()
        return self

    def begin(self, module, args):
        if module in self.names:
            self.modules.append(module)

    def end(self, module, args, output):
        if module in self.names:
            self.modules.pop()

    def pack(self, tensor):
        address = tensor.untyped_storage().data_ptr()
        if not address in self.counted:
            self.counted.append(address)
            size = tensor.untyped_storage().nbytes()
            name = self.names[self.modules[-1]] if len(self.modules) > 0 else ""
            self.bytes = self.bytes + size
            self.by_layer[name] = self.by_layer[name] + size if name in self.by_layer else size
        return tensor.data

    def __exit__(self, exc_type, exc_value, exc_traceback):
        self.hooks.__exit__(exc_type, exc_value, exc_traceback)
        for handle in self.handles:
            handle.remove()

# %% properties_from_notes
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

# %% ids_of_storages
class ActivationMemory:
    """PyTorch keeps the Python object of a storage as long as the storage is there, so its id does, too."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.bytes = 0
        self.by_layer = {}

    def __enter__(self):
        own = {p.untyped_storage().data_ptr() for p in self.model.parameters()}
        seen = set()
        running = [""]

        def begin(name, module, args):
            running.append(name)

        def end(module, args, output):
            running.pop()

        def pack(tensor):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in own and id(storage) not in seen:
                seen.add(id(storage))
                self.bytes += storage.nbytes()
                self.by_layer[running[-1]] = self.by_layer.get(running[-1], 0) + storage.nbytes()
            return tensor.detach()

        self.handles = []
        for name, module in self.model.named_modules():
            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))
            self.handles.append(module.register_forward_hook(end))
        self.hooks = saved_tensors_hooks(pack, lambda kept: kept)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)
        for handle in self.handles:
            handle.remove()
