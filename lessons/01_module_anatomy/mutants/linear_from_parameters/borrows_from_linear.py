# misconception: shows the parameters of an nn.Linear as its own | hint: linear_inside
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.fc = nn.Linear(in_features, out_features)
        self.fc.weight.data.fill_(1)
        self.fc.bias.data.fill_(1)
        self.weight = self.fc.weight
        self.bias = self.fc.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x)
