# misconception: prints instead of returning | hint: returns_nothing
def inventory(model: nn.Module) -> dict[str, object]:
    print([name for name, _ in model.named_children()])
    print([name for name, _ in model.named_modules()])
