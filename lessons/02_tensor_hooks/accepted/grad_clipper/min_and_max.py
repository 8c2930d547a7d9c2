def grad_clipper(model, floor, cap):
    [p.register_hook(lambda g: torch.min(torch.max(g, torch.full_like(g, floor)), torch.full_like(g, cap))) for p in model.parameters()]
    return model
