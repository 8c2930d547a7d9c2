# misconception: float64 from numpy | hint: anatomy_wrong_dtype
import numpy as np


class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.from_numpy(np.ones((out_features, in_features))))
        self.bias = Parameter(torch.from_numpy(np.ones(out_features)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias
