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
