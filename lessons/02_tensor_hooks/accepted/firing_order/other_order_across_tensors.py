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
