model = Model()
answer = []


class Collector:
    def arriving(self, module, grad_output):
        self.grad_output = grad_output[0]

    def leaving(self, module, grad_input, grad_output):
        answer[:] = [*answer, *grad_input, self.grad_output]


collector = Collector()
module_hook = collector.leaving
model.register_full_backward_pre_hook(collector.arriving)
model.register_full_backward_hook(module_hook)
