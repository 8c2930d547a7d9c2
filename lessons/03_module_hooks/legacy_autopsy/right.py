# %% new_list_at_the_end
answer = []
reports = []


class Collector:
    def __call__(self, module, grad_input, grad_output):
        reports.append(grad_input)


def run(register):
    model = Model()
    register(model)(Collector())
    x1, x2 = (torch.tensor([value], requires_grad=True) for value in (2.0, 3.0))
    model(x1, x2).backward()


run(lambda model: model.register_backward_hook)
run(lambda model: model.register_full_backward_hook)
answer = [tuple(report) for report in reports]

# %% one_model_after_the_other
answer = []
seen = {}
for kind in ("register_backward_hook", "register_full_backward_hook"):
    model = Model()
    handle = getattr(model, kind)(lambda m, gi, go, kind=kind: seen.update({kind: gi}))
    output = model(torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True))
    output.backward(torch.ones(1))
    handle.remove()
answer.extend(seen.values())

# %% removes_and_registers_again
answer = []
model = Model()
x1, x2 = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)


def collect(name, module, grad_input, grad_output):
    answer.append(grad_input)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    with model.register_backward_hook(partial(collect, "legacy")):
        model(x1, x2).sum().backward()
    model = Model()
    with model.register_full_backward_hook(partial(collect, "full")):
        model(x1, x2).sum().backward()

# %% two_functions
answer = []
legacy_model, full_model = Model(), Model()


def legacy(module, grad_input, grad_output):
    answer.append(list(grad_input))


def full(module, grad_input, grad_output):
    answer.append([grad.clone() for grad in grad_input])


legacy_model.register_backward_hook(legacy)
full_model.register_full_backward_hook(full)
for model in (legacy_model, full_model):
    x1 = torch.tensor([2.0], requires_grad=True)
    x2 = torch.tensor([3.0], requires_grad=True)
    model(x1, x2).backward()

# %% inputs_in_float64
answer = []
for kind in ("register_backward_hook", "register_full_backward_hook"):
    model = Model().double()
    getattr(model, kind)(lambda module, grad_input, grad_output: answer.append(grad_input))
    x1, x2 = (torch.tensor([value], dtype=torch.float64, requires_grad=True) for value in (2.0, 3.0))
    model(x1, x2).backward()
