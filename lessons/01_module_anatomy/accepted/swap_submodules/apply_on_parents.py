def swap_relu(model: nn.Module) -> nn.Module:
    def replace(parent):
        for name in list(parent._modules):
            child = getattr(parent, name)
            if type(child) is nn.ReLU:
                tanh = nn.Tanh()
                tanh.training = child.training
                setattr(parent, name, tanh)


    return model.apply(replace)
