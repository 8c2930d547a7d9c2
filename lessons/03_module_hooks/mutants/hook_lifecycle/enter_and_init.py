# misconception: registers when it is made and again at the begin of the block | hint: module_hook_twice
class hooked:
    def __init__(self, modules, hook):
        self.modules, self.hook = modules, hook
        self.handles = []
        self.register()

    def register(self):
        for module in self.modules:
            self.handles.append(module.register_forward_hook(self.hook))

    def __enter__(self):
        self.register()

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
