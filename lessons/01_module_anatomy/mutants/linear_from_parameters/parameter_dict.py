# misconception: keeps the parameters in a ParameterDict | hint: anatomy_other_names
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.params = nn.ParameterDict(
            {"weight": Parameter(torch.ones(out_features, in_features)), "bias": Parameter(torch.ones(out_features))}
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.params["weight"].T + self.params["bias"]
