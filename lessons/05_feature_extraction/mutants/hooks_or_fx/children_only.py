# misconception: torchvision's getter for direct children | hint: children_in_a_row
from torchvision.models._utils import IntermediateLayerGetter


def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    return IntermediateLayerGetter(model, {step: "value"})(x)["value"].clone()


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
