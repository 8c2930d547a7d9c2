# misconception: puts everything into training mode first | hint: freezes_the_unchosen
def freeze_where(model, choose, frozen=True):
    model.train()
    for module in model.modules():
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)
    return model
