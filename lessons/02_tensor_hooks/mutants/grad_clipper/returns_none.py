# misconception: does not return the model | hint: returns_no_model
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(floor, cap))
