# misconception: replaces the Parameter by one that cannot be trained | hint: init_not_trainable
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W = Parameter(torch.ones(1), requires_grad=False)


returned_module = model.apply(weight_initialization)
