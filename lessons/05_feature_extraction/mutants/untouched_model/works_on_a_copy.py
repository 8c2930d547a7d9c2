# misconception: prepares a copy of the model | hint: feat_on_a_copy
import copy


@contextmanager
def looking_at(model, hooks):
    twin = copy.deepcopy(model).eval()
    for name, hook in hooks.items():
        twin.get_submodule(name).register_forward_hook(hook)
    with torch.no_grad():
        yield twin
