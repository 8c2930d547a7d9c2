# misconception: the flag of the chosen module only | hint: freezes_own_only
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            module.training = not frozen

    return model.apply(visit)
