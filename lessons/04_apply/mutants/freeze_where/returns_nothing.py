# misconception: returns nothing | hint: returns_nothing
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)

    model.apply(visit)
