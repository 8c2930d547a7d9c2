# misconception: registers for all modules in the process | hint: global_hook
def hook_once(model, hook):
    return [torch.nn.modules.module.register_module_forward_hook(hook)]
