def event_log(model):
    log = []
    names = {module: name for name, module in model.named_modules()}

    def forward_pre(module, args):
        log.append(("forward_pre", names[module]))

    def forward(module, args, output):
        log.append(("forward", names[module]))

    def backward_pre(module, grad_output):
        log.append(("backward_pre", names[module]))

    def backward(module, grad_input, grad_output):
        log.append(("backward", names[module]))

    def register(module):
        module.register_forward_pre_hook(forward_pre)
        module.register_forward_hook(forward)
        module.register_full_backward_pre_hook(backward_pre)
        module.register_full_backward_hook(backward)

    for module in model.modules():
        register(module)
    return log
