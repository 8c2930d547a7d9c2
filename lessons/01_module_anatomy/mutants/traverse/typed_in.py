# misconception: types what TinyNet shows | hint: anatomy_notebooks_own_model
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": ["features", "heads"],
        "modules": ["features", "features.0"],
        "leaves": 5,
        "parameters": {"scale": (1,)},
        "buffers": [],
    }
