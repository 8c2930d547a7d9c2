# misconception: makes the parameters in forward | hint: attributes_missing
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.sizes = in_features, out_features

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = Parameter(torch.ones(self.sizes[1], self.sizes[0]))
        bias = Parameter(torch.ones(self.sizes[1]))
        return x @ weight.T + bias
