# misconception: names the weight, forgets the bias | hint: freezes_weight_only
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.weight.requires_grad = not frozen
            module.train(not frozen)

    return model.apply(visit)
