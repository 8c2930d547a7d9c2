# misconception: sets the gradient to None | hint: freezes_nothing
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            for parameter in module.parameters():
                parameter.grad = None
            module.train(not frozen)

    return model.apply(visit)
