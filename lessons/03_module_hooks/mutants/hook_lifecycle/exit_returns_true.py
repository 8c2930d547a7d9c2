# misconception: an __exit__ that returns True | hint: hooked_swallows_error
class hooked:
    def __init__(self, modules, hook):
        self.modules, self.hook = modules, hook

    def __enter__(self):
        self.handles = [module.register_forward_hook(self.hook) for module in self.modules]

    def __exit__(self, kind, error, traceback):
        for handle in self.handles:
            handle.remove()
        return True
