# misconception: thinks that apply uses what the function returns | hint: apply_changes_nothing
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        return Parameter(torch.ones(1))
    return module


returned_module = model.apply(weight_initialization)
