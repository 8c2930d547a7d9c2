answer = []
seen = {}
for kind in ("register_backward_hook", "register_full_backward_hook"):
    model = Model()
    handle = getattr(model, kind)(lambda m, gi, go, kind=kind: seen.update({kind: gi}))
    output = model(torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True))
    output.backward(torch.ones(1))
    handle.remove()
answer.extend(seen.values())
