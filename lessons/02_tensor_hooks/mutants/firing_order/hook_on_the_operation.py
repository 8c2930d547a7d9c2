# misconception: a hook on the operation between h and w instead of one on w | hint: firing_order_hung_on_h
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    log = []

    def note(name, *arguments):
        log.append((name, h.grad is not None))

    def first(grad):
        note("first")
        return 10 * grad

    w.register_post_accumulate_grad_hook(partial(note, "w.grad"))
    h.retain_grad()
    h.register_hook(first)
    h.register_hook(partial(note, "second"))
    h.grad_fn.register_hook(partial(note, "w"))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)
