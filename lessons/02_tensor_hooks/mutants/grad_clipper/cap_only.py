# misconception: only the cap | hint: one_limit_only
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(max=cap))
    return model
