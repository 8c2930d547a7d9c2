# misconception: scales to the norm | hint: scales_to_norm
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad * min(1.0, cap / grad.norm().item()))
    return model
