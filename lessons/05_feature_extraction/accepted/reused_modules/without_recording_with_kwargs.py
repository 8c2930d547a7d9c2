predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


class Recorder:
    def __init__(self):
        self.calls = []

    def hook(self, name):
        def keep(module, args, kwargs, output):
            self.calls.append((name, output.clone()))

        return keep


@torch.no_grad()
def record_calls(model, x):
    recorder = Recorder()
    layers = list(model.named_modules())[1:]
    handles = [layer.register_forward_hook(recorder.hook(name), with_kwargs=True) for name, layer in layers]
    try:
        model(x)
        return recorder.calls
    finally:
        [handle.remove() for handle in handles]


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
