# misconception: full backward hooks on modules: the gradients of inputs | hint: clips_what_flows
def grad_clipper(model, floor, cap):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else grad.clamp(floor, cap) for grad in grad_input)

    for module in model.modules():
        module.register_full_backward_hook(hook)
    return model
