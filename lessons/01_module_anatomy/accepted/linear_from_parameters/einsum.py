class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        for name, shape in (("bias", (out_features,)), ("weight", (out_features, in_features))):
            setattr(self, name, Parameter(torch.full(shape, 1.0)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.einsum("...i,oi->...o", x, self.weight) + self.bias
