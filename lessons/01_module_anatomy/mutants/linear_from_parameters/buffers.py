# misconception: buffers instead of parameters | hint: anatomy_not_a_parameter
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.register_buffer("weight", torch.ones(out_features, in_features))
        self.register_buffer("bias", torch.ones(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias
