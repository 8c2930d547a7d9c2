def grad_cam(model, layer, x, targets):
    module = dict(model.named_modules())[layer]
    maps = []
    for picture, target in zip(x, targets.tolist()):
        seen = {}

        def remember(module, args, output, seen=seen):
            seen["A"] = output.detach().clone()
            output.register_hook(lambda grad: seen.update(G=grad.clone()))

        handle = module.register_forward_hook(remember)
        try:
            single = picture.unsqueeze(0).detach().requires_grad_(True)
            score = model(single)[0, target]
            score.backward(inputs=[single])
        finally:
            handle.remove()
        heat = torch.zeros(seen["A"].shape[2:])
        for channel, slope in zip(seen["A"][0], seen["G"][0]):
            heat += slope.mean() * channel
        maps.append(heat.clamp(min=0))
    return torch.stack(maps)
