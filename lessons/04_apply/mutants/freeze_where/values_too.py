# misconception: sets the statistics back as well | hint: freezing_changes_output
def freeze_where(model, choose, frozen=True):
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)
            for part in module.modules():
                if frozen and hasattr(part, "reset_parameters"):
                    part.reset_parameters()

    return model.apply(visit)
