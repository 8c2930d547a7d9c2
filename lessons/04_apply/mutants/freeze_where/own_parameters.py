# misconception: own parameters only | hint: freezes_own_only
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            for parameter in module.parameters(recurse=False):
                parameter.requires_grad = not frozen
            module.train(not frozen)

    return model.apply(visit)
