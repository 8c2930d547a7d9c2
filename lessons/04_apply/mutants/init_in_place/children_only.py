# misconception: the model and its direct children | hint: new_values_for_some
@torch.no_grad()
def init_in_place(model, new):
    for module in (model, *model.children()):
        for parameter in module.parameters(recurse=False):
            parameter.copy_(new(parameter))
