# misconception: a class without __exit__ | hint: hooked_no_context_manager
class hooked:
    def __init__(self, modules, hook):
        self.handles = [module.register_forward_hook(hook) for module in modules]

    def __enter__(self):
        return self

    def remove(self):
        for handle in self.handles:
            handle.remove()
