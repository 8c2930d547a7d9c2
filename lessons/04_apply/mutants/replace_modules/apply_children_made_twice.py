# misconception: changes while apply walks, one for each place | hint: one_for_each_place
def replace_modules(model, wanted, make):
    def visit(parent):
        for name, child in list(parent._modules.items()):
            if wanted(child):
                setattr(parent, name, make(child).train(child.training))

    return model.apply(visit)
