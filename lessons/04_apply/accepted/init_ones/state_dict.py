model = Model()


def weight_initialization(module):
    for name, value in module.state_dict().items():
        if name.split(".")[-1] == "W":
            value.mul_(0).add_(1)


returned_module = model.apply(weight_initialization)
