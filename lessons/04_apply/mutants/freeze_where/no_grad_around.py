# misconception: thinks that no_grad marks parameters | hint: freezes_nothing
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            with torch.set_grad_enabled(not frozen):
                module.train(not frozen)

    return model.apply(visit)
