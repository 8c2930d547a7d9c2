# misconception: parameters that share one number | hint: anatomy_one_number_for_all
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(1, 1).expand(out_features, in_features))
        self.bias = Parameter(torch.ones(1).expand(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight, self.bias)
