# %% addmm_only
# misconception: matrices only, by addmm | hint: matrix_only
# breaks: more dimensions may come before
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return torch.addmm(self.bias, x, self.weight.t())

# %% squeezes_one_row
# misconception: takes the axis of a single row away, also from a batch of one row | hint: matrix_only
# breaks: more dimensions may come before
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        rows = x.unsqueeze(0) if x.dim() == 1 else x
+        return (rows @ self.weight.T + self.bias).squeeze(0)

# %% bias_for_inputs
# misconception: a bias for each input | hint: anatomy_bias_shape
# breaks: `bias` of shape `(out_features,)`
# edits: functional
-        self.bias = Parameter(torch.ones(out_features))
+        self.bias = Parameter(torch.ones(in_features))
@@
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight.T + self.bias

# %% bias_plain
# misconception: the bias is a plain tensor | hint: anatomy_not_a_parameter | canary
# edits: bias_for_inputs
-        self.bias = Parameter(torch.ones(in_features))
+        self.bias = torch.ones(out_features)

# %% borrows_from_linear
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

# %% buffers
# misconception: buffers instead of parameters | hint: anatomy_not_a_parameter
# edits: bias_for_inputs
-        self.weight = Parameter(torch.ones(out_features, in_features))
-        self.bias = Parameter(torch.ones(in_features))
+        self.register_buffer("weight", torch.ones(out_features, in_features))
+        self.register_buffer("bias", torch.ones(out_features))

# %% data_in_forward
# misconception: computes with .data | hint: gradient_cut
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight.data.T + self.bias

# %% formula_of_ones
# misconception: uses the start values instead of the parameters | hint: start_values_typed_in
# breaks: returns x · weightᵀ + bias
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x.sum(-1, keepdim=True) + self.bias

# %% frozen
# misconception: the parameters need no gradient | hint: gradient_cut
# edits: bias_for_inputs
-        self.weight = Parameter(torch.ones(out_features, in_features))
-        self.bias = Parameter(torch.ones(in_features))
+        self.weight = Parameter(torch.ones(out_features, in_features), requires_grad=False)
+        self.bias = Parameter(torch.ones(out_features), requires_grad=False)

# %% hard_coded_sizes
# misconception: the sizes of the example | hint: sizes_of_example
# edits: bias_for_inputs
-        self.weight = Parameter(torch.ones(out_features, in_features))
-        self.bias = Parameter(torch.ones(in_features))
+        self.weight = Parameter(torch.ones(2, 3))
+        self.bias = Parameter(torch.ones(2))

# %% linear_inside
# misconception: wraps nn.Linear | hint: linear_inside
# breaks: without `nn.Linear`
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        nn.init.ones_(self.linear.weight)
        nn.init.ones_(self.linear.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)

# %% new_parameter_each_call
# misconception: makes the parameters in forward | hint: attributes_missing
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.sizes = in_features, out_features

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = Parameter(torch.ones(self.sizes[1], self.sizes[0]))
        bias = Parameter(torch.ones(self.sizes[1]))
        return x @ weight.T + bias

# %% new_tensor_of_x
# misconception: makes a new tensor of x | hint: anatomy_input_cut
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        x = torch.tensor(x)
+        return x @ self.weight.T + self.bias

# %% no_bias
# misconception: the bias is never added | hint: bias_unused
# breaks: returns x · weightᵀ + bias
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight.T

# %% no_return
# misconception: forgets to return | hint: returns_nothing
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        output = x @ self.weight.T + self.bias

# %% no_transpose
# misconception: multiplies by the weight as it is | hint: shapes_do_not_fit
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight + self.bias

# %% other_names
# misconception: W and b | hint: anatomy_other_names
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.W = Parameter(torch.ones(out_features, in_features))
        self.b = Parameter(torch.ones(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.W.T + self.b

# %% plain_tensors
# misconception: plain tensors that need a gradient | hint: anatomy_not_a_parameter
# breaks: two parameters
# edits: bias_for_inputs
-        self.weight = Parameter(torch.ones(out_features, in_features))
-        self.bias = Parameter(torch.ones(in_features))
+        self.weight = torch.ones(out_features, in_features, requires_grad=True)
+        self.bias = torch.ones(out_features, requires_grad=True)

# %% random_start
# misconception: random start values | hint: wrong_start
# breaks: of ones
# edits: bias_for_inputs
-        self.weight = Parameter(torch.ones(out_features, in_features))
-        self.bias = Parameter(torch.ones(in_features))
+        self.weight = Parameter(torch.rand(out_features, in_features))
+        self.bias = Parameter(torch.rand(out_features))

# %% reshaped
# misconception: reshapes the weight instead of transposing it | hint: weight_reshaped
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight.reshape(x.shape[-1], -1) + self.bias

# %% sizes_swapped
# misconception: swaps the two sizes | hint: weight_transposed
# edits: functional
-    def __init__(self, in_features: int, out_features: int):
+    def __init__(self, out_features, in_features):
@@
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight.T + self.bias

# %% subclass_of_linear
# misconception: inherits from nn.Linear | hint: linear_inside
# breaks: without `nn.Linear`
class MyLinear(nn.Linear):
    def __init__(self, in_features: int, out_features: int):
        super().__init__(in_features, out_features)
        nn.init.ones_(self.weight)
        nn.init.ones_(self.bias)

# %% super_without_call
# misconception: super without brackets | hint: init_forgotten
# edits: functional
-        super().__init__()
+        super.__init__()
@@
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight.T + self.bias

# %% transposed
# misconception: the weight is stored as (in, out) | hint: weight_transposed
# breaks: `weight` of shape `(out_features, in_features)`
# edits: no_transpose
-        self.weight = Parameter(torch.ones(out_features, in_features))
+        self.weight = Parameter(torch.ones(in_features, out_features))

# %% transposed_in_init
# misconception: transposes the weight once, in __init__ | hint: anatomy_kept_copy
# edits: functional
+        self.wt = self.weight.T
 
     def forward(self, x: torch.Tensor) -> torch.Tensor:
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.wt + self.bias

# %% with_relu
# misconception: puts an activation behind it | hint: anatomy_other_formula
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return F.relu(F.linear(x, self.weight, self.bias))
