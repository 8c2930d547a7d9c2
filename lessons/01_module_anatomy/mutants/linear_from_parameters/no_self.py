# misconception: forgets self | hint: anatomy_read_without_self
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ weight.T + bias
