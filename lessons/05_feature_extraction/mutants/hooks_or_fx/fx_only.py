# misconception: torchvision's extractor for everything | hint: feat_cannot_be_traced
def value_at(model, step, x):
    return create_feature_extractor(model, [step])(x)[step]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
