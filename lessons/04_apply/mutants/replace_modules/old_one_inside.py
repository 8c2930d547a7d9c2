# misconception: takes the old module, which is inside, for a new one | hint: shared_place_missed
def replace_modules(model: nn.Module, wanted, make) -> nn.Module:
    made, mine = {}, set()

    def visit(parent):
        if parent in mine:
            return
        for name, child in parent._modules.items():
            if child not in mine and wanted(child):
                if child not in made:
                    made[child] = make(child).train(child.training)
                    mine.update(made[child].modules())
                parent._modules[name] = made[child]

    model.apply(visit)
    return model
