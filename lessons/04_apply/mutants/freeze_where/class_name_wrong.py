# misconception: asks for something else than what is chosen | hint: freezes_everything
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose:
            module.requires_grad_(not frozen)
            module.train(not frozen)

    return model.apply(visit)
