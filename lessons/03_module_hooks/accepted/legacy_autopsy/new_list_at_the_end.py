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
