# misconception: makes gradients zero with a hook | hint: freezes_nothing
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.train(not frozen)
            for parameter in module.parameters():
                if frozen:
                    parameter.register_hook(torch.zeros_like)

    return model.apply(visit)
