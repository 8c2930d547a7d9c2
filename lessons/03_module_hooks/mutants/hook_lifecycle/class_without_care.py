# misconception: a class whose __enter__ may fail half-way | hint: hooked_half_registered
class hooked:
    def __init__(self, modules, hook):
        self.modules, self.hook = modules, hook

    def __enter__(self):
        self.handles = [module.register_forward_hook(self.hook) for module in self.modules]
        return self.handles

    def __exit__(self, kind, error, traceback):
        for handle in self.handles:
            handle.remove()
