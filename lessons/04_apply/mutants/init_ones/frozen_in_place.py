# misconception: switches gradients off to write in place, and never on again | hint: init_not_trainable
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.requires_grad_(False).fill_(1)


returned_module = model.apply(weight_initialization)
