# misconception: makes a new tensor of x | hint: anatomy_input_cut
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tensor(x)
        return x @ self.weight.T + self.bias
