# misconception: zeroes what lies outside | hint: zeroes_outside
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad * ((grad >= floor) & (grad <= cap)))
    return model
