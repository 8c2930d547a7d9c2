# misconception: registers a size as well | hint: anatomy_more_than_asked
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))
        self.in_features = Parameter(torch.tensor(float(in_features)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias
