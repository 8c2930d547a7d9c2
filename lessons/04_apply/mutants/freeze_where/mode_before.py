# misconception: the mode is set, and model.train() called after it | hint: frozen_in_training_mode
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)

    model.apply(visit)
    return model.train()
