# misconception: an __exit__ without the error's arguments | hint: hooked_exit_arguments
class hooked:
    def __init__(self, modules, hook):
        self.modules, self.hook = modules, hook

    def __enter__(self):
        self.handles = [module.register_forward_hook(self.hook) for module in self.modules]

    def __exit__(self):
        for handle in self.handles:
            handle.remove()
