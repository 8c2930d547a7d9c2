# misconception: sets every module, so that parents undo what children did | hint: freezes_nothing
def freeze_where(model, choose, frozen=True):
    def visit(module):
        module.requires_grad_(not (choose(module) and frozen))
        module.train(not (choose(module) and frozen))

    return model.apply(visit)
