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
