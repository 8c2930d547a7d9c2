# misconception: trusts torchvision's extractor | hint: feat_alias
def safe_features(model, layers, x):
    features = create_feature_extractor(model, list(layers))(x)
    return {name: feature.detach().clone() for name, feature in features.items()}


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
