# misconception: swaps the two sizes | hint: weight_transposed
class MyLinear(nn.Module):
    def __init__(self, out_features, in_features):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias
