# %% clones_in_a_comprehension
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad.detach().clone() for grad in (*grad_input, *grad_output))
    return grad_input


model.register_full_backward_hook(module_hook)

# %% closure
model = Model()
answer = []


def collector(into):
    def collect(module, grad_input, grad_output):
        g1, g2 = grad_input
        (g,) = grad_output
        into.extend([g1, g2, g])

    return collect


module_hook = collector(answer)
model.register_full_backward_hook(module_hook, prepend=True)

# %% extends_twice
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad_input)
    answer.extend(grad_output)


model.register_full_backward_hook(module_hook)

x1 = torch.rand(1, requires_grad=True)
x2 = torch.rand(1, requires_grad=True)
output = model(x1, x2)
output.retain_grad()
output.backward()

# %% loop_and_index
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    for grad in grad_input:
        answer.append(grad)
    answer.append(grad_output[0])


model.register_full_backward_hook(module_hook)

# %% pre_hook_keeps_the_output_gradient
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

# %% without_a_copy
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    answer.extend(grad.data for grad in grad_input)
    answer.append(grad_output[0].detach())


model.register_full_backward_hook(module_hook)
