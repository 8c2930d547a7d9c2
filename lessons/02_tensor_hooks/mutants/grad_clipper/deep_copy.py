# misconception: clips a copy | hint: returns_no_model
import copy


def grad_clipper(model, floor, cap):
    model = copy.deepcopy(model)
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(floor, cap))
    return model
