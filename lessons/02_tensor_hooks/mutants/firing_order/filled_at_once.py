# misconception: returns what is known, without a hook | hint: firing_order_no_hooks
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    h.retain_grad()
    h.register_hook(lambda grad: 10 * grad)
    return [("first", False), ("second", False), ("w", True), ("w.grad", True)]


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)
