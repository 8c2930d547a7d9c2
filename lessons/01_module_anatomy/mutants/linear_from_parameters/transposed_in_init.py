# misconception: transposes the weight once, in __init__ | hint: anatomy_kept_copy
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))
        self.wt = self.weight.T

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.wt + self.bias
