# %% bias_first
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.bias = nn.Parameter(data=torch.ones(out_features))
        self.weight = nn.Parameter(data=torch.ones((out_features, in_features)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.bias + torch.matmul(x, self.weight.mT)

# %% einsum
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        for name, shape in (("bias", (out_features,)), ("weight", (out_features, in_features))):
            setattr(self, name, Parameter(torch.full(shape, 1.0)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.einsum("...i,oi->...o", x, self.weight) + self.bias

# %% functional
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight, self.bias)

# %% parameters_of_a_linear
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        made = nn.Linear(in_features, out_features)
        self.weight, self.bias = made.weight, made.bias
        with torch.no_grad():
            self.weight.fill_(1)
            self.bias.fill_(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.matmul(self.weight.T) + self.bias

# %% register_parameter
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.register_parameter("weight", Parameter(torch.empty(out_features, in_features)))
        self.register_parameter("bias", Parameter(torch.empty(out_features)))
        for parameter in self.parameters():
            nn.init.ones_(parameter)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.matmul(x, self.weight.transpose(0, 1)).add(self.bias)
