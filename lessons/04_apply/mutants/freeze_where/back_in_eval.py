# misconception: thaws the parameters only | hint: thawed_in_eval_mode
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            if frozen:
                module.eval()

    return model.apply(visit)
