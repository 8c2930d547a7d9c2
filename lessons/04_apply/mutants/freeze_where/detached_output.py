# misconception: cuts the graph behind the frozen part | hint: frozen_part_blocks
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)
            if frozen:
                module.register_forward_hook(lambda m, args, output: output.detach())

    return model.apply(visit)
