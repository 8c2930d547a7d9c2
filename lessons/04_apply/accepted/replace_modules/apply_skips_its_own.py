def replace_modules(model: nn.Module, wanted, make) -> nn.Module:
    made, inside = {}, set()

    def visit(parent):
        if parent in inside:
            return
        for name, child in parent._modules.items():
            if child not in made.values() and wanted(child):
                if child not in made:
                    made[child] = make(child).train(child.training)
                    inside.update(made[child].modules())
                parent._modules[name] = made[child]

    model.apply(visit)
    return model
