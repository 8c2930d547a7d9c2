# misconception: rebinds a local name | hint: apply_changes_nothing
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        W = module.W
        W = torch.ones(1)


returned_module = model.apply(weight_initialization)
