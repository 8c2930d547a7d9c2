# misconception: computes with a Parameter before it is assigned | hint: anatomy_not_a_parameter
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.zeros(out_features, in_features)) + 1
        self.bias = Parameter(torch.zeros(out_features)) + 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias
