# misconception: a parent visited twice shows the replacement | hint: replacement_replaced_again
def replace_modules(model, wanted, make):
    made = {}

    def visit(parent):
        for name, child in list(parent._modules.items()):
            if wanted(child):
                if child not in made:
                    made[child] = make(child).train(child.training)
                setattr(parent, name, made[child])

    return model.apply(visit)
