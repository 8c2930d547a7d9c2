# misconception: sets an attribute of the module | hint: freezes_nothing
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad = not frozen
            module.train(not frozen)

    return model.apply(visit)
