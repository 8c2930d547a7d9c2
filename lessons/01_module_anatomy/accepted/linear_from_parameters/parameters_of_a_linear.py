class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        made = nn.Linear(in_features, out_features)
        self.weight, self.bias = made.weight, made.bias
        with torch.no_grad():
            self.weight.fill_(1)
            self.bias.fill_(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.matmul(self.weight.T) + self.bias
