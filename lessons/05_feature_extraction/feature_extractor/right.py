# %% detached_clones_without_grad
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers, self.features = layers, {}
        modules = dict(model.named_modules())
        for name in layers:
            modules[name].register_forward_hook(
                lambda m, a, o, name=name: self.features.update({name: o.detach().clone()})
            )

    def forward(self, x):
        self.features = {}
        with torch.no_grad():
            self.model(x)
        return {name: self.features[name] for name in self.layers}


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))

# %% factory_method
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self._features = {layer: torch.empty(0) for layer in layers}
        for name in layers:
            layer = dict([*self.model.named_modules()])[name]
            layer.register_forward_hook(self.save_outputs_hook(name))

    def save_outputs_hook(self, name):
        def fn(_, __, output):
            self._features[name] = output

        return fn

    def forward(self, x):
        _ = self.model(x)
        return self._features


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))

# %% hook_objects_and_path_walk
class Keeper:
    output = None

    def __call__(self, module, args, output):
        self.output = output


class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.keepers = {}
        for name in layers:
            module = model
            for part in name.split("."):
                module = module[int(part)] if part.isdigit() else getattr(module, part)
            self.keepers[name] = Keeper()
            module.register_forward_hook(self.keepers[name])

    def forward(self, x):
        self.model(x)
        return {name: keeper.output for name, keeper in self.keepers.items()}


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))

# %% names_by_module
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.names = {model.get_submodule(name): name for name in layers}
        self.found = []
        for module in self.names:
            module.register_forward_hook(self.keep)

    def keep(self, module, args, output):
        self.found.append((self.names[module], output.clone()))

    def forward(self, x):
        self.found.clear()
        self.model(x)
        return dict(self.found)


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))

# %% on_top_of_torchvision
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.extractor = create_feature_extractor(model, return_nodes={name: name for name in layers})

    def forward(self, x):
        return self.extractor(x)


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))

# %% registered_for_one_call
def keep(features, name, module, args, kwargs, output):
    features[name] = output


class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = list(layers)

    def forward(self, x):
        features, handles = {}, []
        try:
            for name in self.layers:
                module = self.model.get_submodule(name)
                handles.append(module.register_forward_hook(partial(keep, features, name), with_kwargs=True))
            self.model(x)
        finally:
            for handle in handles:
                handle.remove()
        return features


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))

# %% stops_early
class Enough(Exception):
    pass


class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = list(layers)

    def forward(self, x):
        features, handles = {}, []

        def hook(module, args, output, name):
            features[name] = output
            if len(features) == len(self.layers):
                raise Enough

        for name in self.layers:
            module = self.model.get_submodule(name)
            handles.append(module.register_forward_hook(lambda m, a, o, name=name: hook(m, a, o, name)))
        try:
            self.model(x)
        except Enough:
            pass
        finally:
            for handle in handles:
                handle.remove()
        return features


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))

# %% traced_at_each_call
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = layers

    def forward(self, x):
        return create_feature_extractor(self.model, list(self.layers))(x)


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))

# %% traced_once
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.extractor = [create_feature_extractor(model, layers)]  # its layers are the model's own

    def forward(self, x):
        return self.extractor[0](x)
