# misconception: runs the frozen part under no_grad | hint: frozen_part_blocks
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)
            module.__dict__.pop("forward", None)
            if frozen:
                module.forward = torch.no_grad()(module.forward)

    return model.apply(visit)
