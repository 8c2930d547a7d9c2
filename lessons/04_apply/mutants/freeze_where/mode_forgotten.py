# misconception: leaves batch norms in training mode | hint: frozen_in_training_mode
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)

    return model.apply(visit)
