# misconception: the bias is a plain tensor | hint: anatomy_not_a_parameter
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = torch.ones(out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias
