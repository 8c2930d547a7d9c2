# misconception: leaves the argument frozen out | hint: no_way_back
def freeze_where(model, choose):
    def visit(module):
        if choose(module):
            module.requires_grad_(False)
            module.eval()

    return model.apply(visit)
