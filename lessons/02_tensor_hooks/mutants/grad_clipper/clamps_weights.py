# misconception: clamps the parameters | hint: changes_parameters
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.data.clamp_(floor, cap)
    return model
