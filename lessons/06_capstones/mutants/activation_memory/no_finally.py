# misconception: a generator that does not leave its hooks after an error | hint: tool_not_after_error
from types import SimpleNamespace


@contextmanager
def ActivationMemory(model):
    memory = SimpleNamespace(bytes=0, by_layer={})
    seen = {p.untyped_storage().data_ptr() for p in model.parameters()}
    stack = [""]

    def enter(name, module, args):
        stack.append(name)

    def leave(module, args, output):
        stack.pop()

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in seen:
            seen.add(storage.data_ptr())
            memory.bytes += storage.nbytes()
            memory.by_layer[stack[-1]] = memory.by_layer.get(stack[-1], 0) + storage.nbytes()
        return tensor.detach()

    handles = []
    for name, module in model.named_modules():
        handles += [module.register_forward_pre_hook(partial(enter, name)), module.register_forward_hook(leave)]
    hooks = saved_tensors_hooks(pack, lambda kept: kept)
    hooks.__enter__()
    yield memory
    hooks.__exit__(None, None, None)
    for handle in handles:
        handle.remove()
