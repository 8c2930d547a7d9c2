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
        return {**self._features}

# %% new_dict_first
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model, self.features = model, {}
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

    def forward(self, x):
        self.features = {}
        self.model(x)
        return self.features

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
