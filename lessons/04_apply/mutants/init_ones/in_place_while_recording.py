# misconception: in-place on a leaf, without no_grad | hint: leaf_in_place
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.fill_(1.0)


returned_module = model.apply(weight_initialization)
