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
