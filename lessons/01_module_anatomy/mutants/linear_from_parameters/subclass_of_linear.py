# misconception: inherits from nn.Linear | hint: linear_inside
class MyLinear(nn.Linear):
    def __init__(self, in_features: int, out_features: int):
        super().__init__(in_features, out_features)
        nn.init.ones_(self.weight)
        nn.init.ones_(self.bias)
