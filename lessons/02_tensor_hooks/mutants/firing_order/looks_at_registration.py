# misconception: looks at h.grad when the hooks are registered | hint: firing_order_flag_frozen
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    log = []

    def hook(entry, factor=None):
        def inner(grad):
            log.append(entry)
            return grad * factor if factor else None

        return inner

    w.register_post_accumulate_grad_hook(hook(("w.grad", h.grad is not None)))
    w.register_hook(hook(("w", h.grad is not None)))
    h.retain_grad()
    h.register_hook(hook(("first", h.grad is not None), 10))
    h.register_hook(hook(("second", h.grad is not None)))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)
