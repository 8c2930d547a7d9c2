# misconception: the small model's forward, typed again | hint: typed_in_names
def safe_features(model, layers, x):
    with torch.no_grad():
        found, block = {}, model.block
        found["conv1"] = model.conv1(x)
        found["bn1"] = model.bn1(found["conv1"])
        found["relu"] = torch.relu(found["bn1"])
        found["block.conv1"] = block.conv1(found["relu"])
        found["block.bn1"] = block.bn1(found["block.conv1"])
        found["block.conv2"] = block.conv2(torch.relu(found["block.bn1"]))
        found["block.bn2"] = block.bn2(found["block.conv2"])
        found["block"] = torch.relu(found["block.bn2"] + found["relu"])
        found["pool"] = model.pool(found["block"])
        found["fc"] = model.fc(found["pool"].flatten(1))
    return {name: found[name] for name in layers}


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
