def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            for parameter in module.parameters():
                parameter.requires_grad_(not frozen)
                if frozen:
                    parameter.grad = None
            module.train(mode=not frozen)

    model.apply(visit)
    return model
