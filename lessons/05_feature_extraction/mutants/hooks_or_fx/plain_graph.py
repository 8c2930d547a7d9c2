# misconception: looks for torchvision's names in a plain graph | hint: feat_fx_own_names
def value_at(model, step, x):
    if step in dict(model.named_modules()):
        found = []
        with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
            model(x)
        return found[0]
    traced = torch.fx.symbolic_trace(model)
    nodes = {node.name: node for node in traced.graph.nodes}
    with traced.graph.inserting_after(nodes[step]):
        traced.graph.output(nodes[step])
    traced.recompile()
    return traced(x)


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
