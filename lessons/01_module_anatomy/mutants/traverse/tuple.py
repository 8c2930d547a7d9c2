# misconception: a tuple instead of a dict | hint: anatomy_not_a_dict
def inventory(model: nn.Module) -> dict[str, object]:
    return [n for n, _ in model.named_children()], [n for n, _ in model.named_modules() if n]
