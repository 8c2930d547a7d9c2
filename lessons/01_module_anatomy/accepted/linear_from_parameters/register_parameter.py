class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.register_parameter("weight", Parameter(torch.empty(out_features, in_features)))
        self.register_parameter("bias", Parameter(torch.empty(out_features)))
        for parameter in self.parameters():
            nn.init.ones_(parameter)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.matmul(x, self.weight.transpose(0, 1)).add(self.bias)
