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
