# %% bool_of_it
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = torch.tensor(120.0)


def log_order(w, h):
    order = []

    def hook(name, factor):
        def inner(x):
            there = not (h.grad is None)
            order.append([name, there])
            if factor:
                return x * factor

        return inner

    w.register_post_accumulate_grad_hook(hook("w.grad", 0))
    w.register_hook(hook("w", 0))
    h.retain_grad()
    h.register_hook(hook("first", 10))
    h.register_hook(hook("second", 0))
    return order


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)

# %% kept_the_prediction
predicted = [("w.grad", False), ("w", False), ("first", True), ("second", True)]
predicted_h_grad = 12.0
what_ran = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
what_ran_h_grad = 120.0


def log_order(w, h):
    log = []

    def note(name, _):
        log.append((name, h.grad is not None))

    def first(grad):
        note("first", grad)
        return 10 * grad

    w.register_post_accumulate_grad_hook(partial(note, "w.grad"))
    w.register_hook(partial(note, "w"))
    h.retain_grad()
    h.register_hook(first)
    h.register_hook(partial(note, "second"))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)

# %% lambdas
predicted = [["first", False], ["second", False], ["w", True], ["w.grad", True]]
predicted_h_grad = 120


def log_order(w, h):
    log = []
    w.register_post_accumulate_grad_hook(lambda p: log.append(("w.grad", h.grad is not None)))
    w.register_hook(lambda g: log.append(("w", h.grad is not None)))
    h.retain_grad()

    def first(g):
        log.append(("first", h.grad is not None))
        return g.mul(10)

    h.register_hook(first)
    h.register_hook(lambda g: log.append(("second", h.grad is not None)))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)

# %% other_order_across_tensors
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    # The order of registration between w and h makes no difference.
    log = []

    def look():
        return h.grad is not None

    def first(grad):
        log.append(("first", look()))
        return torch.mul(grad, 10.0)

    h.register_hook(first)
    h.register_hook(lambda grad: log.append(("second", look())))
    h.retain_grad()
    w.register_hook(lambda grad: log.append(("w", look())))
    w.register_post_accumulate_grad_hook(lambda leaf: log.append(("w.grad", look())))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)

# %% predicts_by_experiment
def log_order(w, h):
    log = []

    def note(name, _):
        log.append((name, h.grad is not None))

    def first(grad):
        note("first", grad)
        return grad + 9 * grad

    w.register_post_accumulate_grad_hook(partial(note, "w.grad"))
    w.register_hook(partial(note, "w"))
    h.retain_grad()
    h.register_hook(first)
    h.register_hook(partial(note, "second"))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
predicted = log_order(w, h)
(h**2).backward()
predicted_h_grad = h.grad.item()

# %% returns_the_gradient
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 12.0 * 10


class Note:
    def __init__(self, log, name, h, factor=1):
        self.log, self.name, self.h, self.factor = log, name, h, factor

    def __call__(self, grad):
        self.log.append((self.name, isinstance(self.h.grad, torch.Tensor)))
        return None if self.name == "w.grad" else grad * self.factor


def log_order(w, h):
    log = []
    handles = [w.register_post_accumulate_grad_hook(Note(log, "w.grad", h)), w.register_hook(Note(log, "w", h))]
    h.retain_grad()
    handles += [h.register_hook(Note(log, "first", h, 10)), h.register_hook(Note(log, "second", h))]
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)
