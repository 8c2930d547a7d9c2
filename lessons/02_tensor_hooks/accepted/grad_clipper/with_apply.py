def grad_clipper(model, floor, cap):
    def hang(module):
        for parameter in module.parameters(recurse=False):
            parameter.register_hook(lambda grad: grad.data.clip(floor, cap))

    return model.apply(hang)
