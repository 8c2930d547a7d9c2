class Found(Exception):
    pass


def value_at(model, step, x):
    modules = dict(model.named_modules())
    if step not in modules:
        with torch.no_grad():
            return create_feature_extractor(model, [step])(x)[step].clone()

    def stop(module, args, output):
        raise Found(output)

    handle = modules[step].register_forward_hook(stop)
    try:
        model(x)
    except Found as found:
        return found.args[0].detach()
    finally:
        handle.remove()


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
