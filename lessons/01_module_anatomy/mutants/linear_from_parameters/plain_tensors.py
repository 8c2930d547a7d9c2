# misconception: plain tensors that need a gradient | hint: anatomy_not_a_parameter
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = torch.ones(out_features, in_features, requires_grad=True)
        self.bias = torch.ones(out_features, requires_grad=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias
