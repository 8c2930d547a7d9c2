# misconception: a default value that lives on | hint: anatomy_kept_between_calls
def inventory(model, found={"children": [], "modules": [], "leaves": 0, "parameters": {}, "buffers": []}):
    found["children"] += [n for n, _ in model.named_children()]
    found["modules"] += [n for n, _ in model.named_modules() if n]
    found["leaves"] += sum(1 for n, m in model.named_modules() if n and not list(m.children()))
    found["parameters"].update({n: tuple(p.shape) for n, p in model.named_parameters()})
    found["buffers"] += [n for n, _ in model.named_buffers()]
    return found
