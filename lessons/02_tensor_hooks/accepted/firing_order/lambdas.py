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
