class Recorder:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def attach(self, module):
        self.handles = [
            module.register_forward_pre_hook(self.forward_pre),
            module.register_forward_hook(self.forward),
            module.register_full_backward_pre_hook(self.backward_pre),
            module.register_full_backward_hook(self.backward),
        ]

    def forward_pre(self, module, args):
        self.log.append(["forward_pre", self.name])

    def forward(self, module, args, output):
        self.log.append(["forward", self.name])

    def backward_pre(self, module, grad_output):
        self.log.append(["backward_pre", self.name])

    def backward(self, module, grad_input, grad_output):
        self.log.append(["backward", self.name])


def event_log(model):
    log = []
    for name, module in model.named_modules():
        Recorder(log, name).attach(module)
    return log
