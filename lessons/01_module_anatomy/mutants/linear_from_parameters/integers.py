# misconception: ones that are integers | hint: anatomy_whole_numbers
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features, dtype=torch.int64))
        self.bias = Parameter(torch.ones(out_features, dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias
