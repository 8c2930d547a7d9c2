# misconception: changes the dict that it goes over | hint: changes_while_walking
def replace_modules(model, wanted, make):
    def visit(parent):
        for name, child in parent._modules.items():
            if wanted(child):
                del parent._modules[name]
                parent.add_module(name, make(child).train(child.training))

    return model.apply(visit)
