# misconception: compares the class name with a word that no class has | hint: apply_changes_nothing
model = Model()


def weight_initialization(module):
    if module.__class__.__name__ == "Function":
        module.W.data.fill_(1)


returned_module = model.apply(weight_initialization)
