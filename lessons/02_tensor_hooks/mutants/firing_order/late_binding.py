# misconception: names that the hooks look up when they run | hint: fan_out_loop_variable
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0


def log_order(w, h):
    log = []
    h.retain_grad()
    for name, tensor in {"w": w, "first": h, "second": h}.items():

        def hook(grad):
            log.append((name, h.grad is not None))
            return 10 * grad if name == "first" else None

        tensor.register_hook(hook)
    name = "w.grad"
    w.register_post_accumulate_grad_hook(lambda leaf: log.append((name, h.grad is not None)))
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)
