# misconception: parameters in the class body, and no __init__ | hint: anatomy_other_signature
class MyLinear(nn.Module):
    weight = Parameter(torch.ones(2, 3))
    bias = Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias
