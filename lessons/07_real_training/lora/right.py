# %% functional
class LoRA(nn.Module):
    def __init__(self, linear, rank):
        super().__init__()
        for parameter in linear.parameters():
            parameter.requires_grad = False
        self.base = linear
        self.A = nn.Parameter(torch.randn(rank, linear.in_features, dtype=linear.weight.dtype) * 0.02)
        self.B = nn.Parameter(torch.zeros(linear.out_features, rank, dtype=linear.weight.dtype))

    def forward(self, x):
        return F.linear(x, self.base.weight, self.base.bias) + F.linear(F.linear(x, self.A), self.B)

    @torch.no_grad()
    def merged(self):
        out, inside = self.base.weight.shape
        new = nn.Linear(inside, out, bias=self.base.bias is not None, dtype=self.base.weight.dtype)
        new.weight.copy_(self.base.weight + self.B @ self.A)
        if new.bias is not None:
            new.bias.copy_(self.base.bias)
        return new

# %% correction_as_one_matrix
class LoRA(nn.Module):
    def __init__(self, linear, rank):
        super().__init__()
        self.linear = linear
        self.linear.weight.requires_grad_(False)
        if self.linear.bias is not None:
            self.linear.bias.requires_grad_(False)
        self.A = Parameter(torch.empty(rank, linear.in_features, dtype=linear.weight.dtype))
        self.B = Parameter(torch.zeros(linear.out_features, rank, dtype=linear.weight.dtype))
        nn.init.kaiming_uniform_(self.A)

    def forward(self, x):
        return self.linear(x) + x @ (self.B @ self.A).T

    def merged(self):
        merged = copy.deepcopy(self.linear)
        merged.weight.data += self.B.data @ self.A.data
        return merged

# %% inherits_from_linear
class LoRA(nn.Linear):
    def __init__(self, linear, rank):
        super().__init__(linear.in_features, linear.out_features, bias=linear.bias is not None, dtype=linear.weight.dtype)
        self.weight, self.bias = linear.weight, linear.bias
        self.requires_grad_(False)
        self.A = Parameter(0.1 * torch.randn(rank, self.in_features, dtype=self.weight.dtype))
        self.B = Parameter(torch.zeros(self.out_features, rank, dtype=self.weight.dtype))

    def forward(self, x):
        return super().forward(x) + x @ self.A.T @ self.B.T

    def merged(self):
        new = nn.Linear(self.in_features, self.out_features, bias=self.bias is not None, dtype=self.weight.dtype)
        state = {"weight": self.weight + self.B @ self.A}
        if self.bias is not None:
            state["bias"] = self.bias
        new.load_state_dict(state)
        return new

# %% two_products
class LoRA(nn.Module):
    def __init__(self, linear, rank):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.register_parameter("A", Parameter(torch.rand(rank, linear.in_features).type_as(linear.weight) - 0.5))
        self.register_parameter("B", Parameter(linear.weight.new_zeros(linear.out_features, rank)))

    def forward(self, x):
        low = x @ self.A.T
        return torch.add(self.linear(x), low @ self.B.T)

    def merged(self):
        new = copy.deepcopy(self.linear)
        new.weight = Parameter((self.linear.weight + self.B @ self.A).detach())
        return new
