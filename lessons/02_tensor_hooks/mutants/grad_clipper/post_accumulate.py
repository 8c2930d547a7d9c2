# misconception: clips the sum | hint: clips_accumulated
def grad_clipper(model, floor, cap):
    for parameter in model.parameters():
        def hook(parameter):
            parameter.grad.clamp_(floor, cap)

        parameter.register_post_accumulate_grad_hook(hook)
    return model
