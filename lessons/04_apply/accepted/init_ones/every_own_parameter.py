model = Model()


@torch.no_grad()
def weight_initialization(module):
    for parameter in module.parameters(recurse=False):
        parameter.copy_(torch.ones_like(parameter))


returned_module = model.apply(weight_initialization)
