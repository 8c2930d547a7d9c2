# misconception: leaves out the post-accumulate hook | hint: firing_order_missing_hook
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    log = []

    def note(name, argument):
        log.append((name, h.grad is not None))

    def first(grad):
        note("first", grad)
        return 10 * grad

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
