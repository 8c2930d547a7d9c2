# nothing to break: and so is an `nn.Linear` from which you only take the two parameters

# %% addmm_only
# misconception: matrices only, by addmm | hint: matrix_only
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return torch.addmm(self.bias, x, self.weight.t())

# %% adds_one
# misconception: adds 1 instead of the bias | hint: start_values_typed_in
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight.T + 1

# %% bias_for_inputs
# misconception: a bias for each input | hint: anatomy_bias_shape
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(in_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

# %% bias_plain
# misconception: the bias is a plain tensor | hint: anatomy_not_a_parameter
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
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.register_buffer("weight", torch.ones(out_features, in_features))
        self.register_buffer("bias", torch.ones(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

# %% data_in_forward
# misconception: computes with .data | hint: gradient_cut
# breaks: Gradients reach the weight
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight.data.T + self.bias

# %% detached_bias
# misconception: detaches the bias | hint: gradient_cut
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight.T + self.bias.detach()

# %% expanded
# misconception: parameters that share one number | hint: anatomy_one_number_for_all
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(1, 1).expand(out_features, in_features))
        self.bias = Parameter(torch.ones(1).expand(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight, self.bias)

# %% formula_of_ones
# misconception: uses the start values instead of the parameters | hint: start_values_typed_in
# breaks: `forward` uses the weight and the bias
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x.sum(-1, keepdim=True) + self.bias

# %% from_numpy
# misconception: float64 from numpy | hint: anatomy_wrong_dtype
# breaks: The parameters begin as `torch.float32`.
import numpy as np


class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.from_numpy(np.ones((out_features, in_features))))
        self.bias = Parameter(torch.from_numpy(np.ones(out_features)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

# %% frozen
# misconception: the parameters need no gradient | hint: gradient_cut
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features), requires_grad=False)
        self.bias = Parameter(torch.ones(out_features), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

# %% hard_coded_sizes
# misconception: the sizes of the example | hint: sizes_of_example
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(2, 3))
        self.bias = Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

# %% integers
# misconception: ones that are integers | hint: anatomy_whole_numbers
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features, dtype=torch.int64))
        self.bias = Parameter(torch.ones(out_features, dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

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

# %% mm_only
# misconception: matrices only | hint: matrix_only
# breaks: one row, a batch of rows
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return torch.mm(x, self.weight.t()) + self.bias

# %% multiplies_by_bias
# misconception: multiplies by the bias | hint: anatomy_other_formula
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight.T * self.bias

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
# breaks: Gradients reach the weight, the bias and `x`.
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

# %% no_self
# misconception: forgets self | hint: anatomy_read_without_self
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x @ weight.T + bias

# %% no_transpose
# misconception: multiplies by the weight as it is | hint: shapes_do_not_fit
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight + self.bias

# %% one_bias
# misconception: one bias for all outputs | hint: anatomy_bias_shape
# breaks: `bias` of shape `(out_features,)`
# edits: bias_for_inputs
-        self.bias = Parameter(torch.ones(in_features))
+        self.bias = Parameter(torch.ones(1))

# %% other_names
# misconception: W and b | hint: anatomy_other_names
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.W = Parameter(torch.ones(out_features, in_features))
        self.b = Parameter(torch.ones(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.W.T + self.b

# %% parameter_dict
# misconception: keeps the parameters in a ParameterDict | hint: anatomy_other_names
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.params = nn.ParameterDict(
            {"weight": Parameter(torch.ones(out_features, in_features)), "bias": Parameter(torch.ones(out_features))}
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.params["weight"].T + self.params["bias"]

# %% parameters_in_class_body
# misconception: parameters in the class body, and no __init__ | hint: anatomy_other_signature
class MyLinear(nn.Module):
    weight = Parameter(torch.ones(2, 3))
    bias = Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

# %% plain_tensors
# misconception: plain tensors that need a gradient | hint: anatomy_not_a_parameter
# breaks: It has two parameters of its own
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = torch.ones(out_features, in_features, requires_grad=True)
        self.bias = torch.ones(out_features, requires_grad=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

# %% random_start
# misconception: random start values | hint: wrong_start
# breaks: both filled with ones to start with
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.rand(out_features, in_features))
        self.bias = Parameter(torch.rand(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

# %% reshaped
# misconception: reshapes the weight instead of transposing it | hint: weight_reshaped
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x @ self.weight.reshape(x.shape[-1], -1) + self.bias

# %% rows_only
# misconception: returns rows, whatever came in | hint: matrix_only
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x.view(-1, x.shape[-1]) @ self.weight.T + self.bias

# %% sizes_as_parameters
# misconception: registers a size as well | hint: anatomy_more_than_asked
# edits: bias_for_inputs
-        self.bias = Parameter(torch.ones(in_features))
+        self.bias = Parameter(torch.ones(out_features))
+        self.in_features = Parameter(torch.tensor(float(in_features)))

# %% sizes_swapped
# misconception: swaps the two sizes | hint: weight_transposed
class MyLinear(nn.Module):
    def __init__(self, out_features, in_features):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

# %% subclass_of_linear
# misconception: inherits from nn.Linear | hint: linear_inside
# breaks: none as the base class
class MyLinear(nn.Linear):
    def __init__(self, in_features: int, out_features: int):
        super().__init__(in_features, out_features)
        nn.init.ones_(self.weight)
        nn.init.ones_(self.bias)

# %% sum_of_parameter
# misconception: computes with a Parameter before it is assigned | hint: anatomy_not_a_parameter
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.zeros(out_features, in_features)) + 1
        self.bias = Parameter(torch.zeros(out_features)) + 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

# %% super_without_call
# misconception: super without brackets | hint: init_forgotten
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super.__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T + self.bias

# %% transposed
# misconception: the weight is stored as (in, out) | hint: weight_transposed
# breaks: `weight` of shape `(out_features, in_features)`
# edits: no_transpose
-        self.weight = Parameter(torch.ones(out_features, in_features))
+        self.weight = Parameter(torch.ones(in_features, out_features))

# %% transposed_buffer
# misconception: registers the transposed weight as a buffer | hint: anatomy_more_than_asked
# breaks: nothing else that is registered
# edits: sizes_as_parameters
-        self.in_features = Parameter(torch.tensor(float(in_features)))
+        self.register_buffer("transposed", self.weight.T)

# %% transposed_in_init
# misconception: transposes the weight once, in __init__ | hint: anatomy_kept_copy
# breaks: they may have been trained, replaced
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))
        self.wt = self.weight.T

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.wt + self.bias

# %% transposes_x
# misconception: transposes the input | hint: matrix_only
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return (self.weight @ x.T).T + self.bias

# %% with_relu
# misconception: puts an activation behind it | hint: anatomy_other_formula
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return F.relu(F.linear(x, self.weight, self.bias))

# %% transposed_at_first_call
# misconception: transposes the weight in the first call, and keeps it | hint: anatomy_kept_copy
# breaks: that the layer has at that moment
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))
        self.wt = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.wt is None:
            self.wt = self.weight.T
        return x @ self.wt + self.bias

# %% computes_in_float32
# misconception: turns the input into float32 | hint: anatomy_wrong_dtype
# breaks: turned into float64 by `.double()`
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return x.float() @ self.weight.T + self.bias

# %% square_not_transposed
# misconception: does not transpose a square weight | hint: anatomy_square_not_transposed
# breaks: returns x · weightᵀ + bias
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        weight = self.weight if x.shape[-1] == self.weight.shape[0] else self.weight.T
+        return x @ weight + self.bias

# %% columns_without_gradients
# misconception: has a faster way where no gradient is needed, with the first weight | hint: anatomy_kept_copy
# breaks: that the layer has at that moment
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))
        self.columns = list(self.weight.detach().T)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not torch.is_grad_enabled():
            return sum(x[..., i : i + 1] * column for i, column in enumerate(self.columns)) + self.bias
        return x @ self.weight.T + self.bias

# %% kept_in_eval_mode
# misconception: keeps the transposed weight in eval mode | hint: anatomy_kept_copy
# breaks: that the layer has at that moment
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))
        self.kept = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            return x @ self.weight.T + self.bias
        if self.kept is None:
            self.kept = [self.weight.T]
        return x @ self.kept[0] + self.bias

# %% three_dimensions_at_most
# misconception: a way for each number of dimensions, up to three | hint: matrix_only
# breaks: a batch of matrices, and so on
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        if x.dim() == 3:
+            return torch.bmm(x, self.weight.T.expand(len(x), -1, -1)) + self.bias
+        if x.dim() > 3:
+            raise ValueError("at most a batch of matrices")
+        return x @ self.weight.T + self.bias

# %% asks_for_a_gradient_of_x
# misconception: makes x need a gradient | hint: anatomy_changes_the_rest
# breaks: and stays as it was
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        if not x.requires_grad:
+            x.requires_grad_()
+        return x @ self.weight.T + self.bias

# %% overwrites_x
# misconception: writes into x | hint: overwrites_saved
# breaks: and stays as it was
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        output = x @ self.weight.T + self.bias
+        if not x.requires_grad:
+            x.zero_()
+        return output

# %% forward_of_linear
# misconception: borrows the forward of nn.Linear | hint: linear_inside
# breaks: Write `MyLinear(in_features, out_features)` yourself, without `nn.Linear`
# edits: functional
-    def forward(self, x: torch.Tensor) -> torch.Tensor:
-        return F.linear(x, self.weight, self.bias)
+    forward = nn.Linear.forward

# %% hidden_linear
# misconception: hides an nn.Linear in a list | hint: linear_inside
# breaks: No `nn.Linear` inside
class MyLinear(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))
        self.helper = [nn.Linear(in_features, out_features)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(self.helper[0], {"weight": self.weight, "bias": self.bias}, (x,))

# %% view_of_x
# misconception: makes rows of x by a view | hint: anatomy_view_of_x
# breaks: a transposed one too
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        rows = x.view(-1, x.shape[-1])
+        return torch.addmm(self.bias, rows, self.weight.T).view(*x.shape[:-1], -1)

# %% keeps_the_gradient_of_x
# misconception: makes x keep its gradient | hint: anatomy_changes_the_rest
# breaks: and stays as it was
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        if x.requires_grad:
+            x.retain_grad()
+        return x @ self.weight.T + self.bias

# %% squeezes_one_output
# misconception: squeezes the axis of a single output away | hint: anatomy_squeezed
# breaks: `forward(x)` returns x · weightᵀ + bias.
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        return (x @ self.weight.T + self.bias).squeeze(-1)

# %% squeezes_one_input
# misconception: squeezes the axis of a single input away | hint: anatomy_squeezed
# breaks: `x` has the shape `(..., in_features)`
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        x = x.squeeze(-1)
+        return x @ self.weight.T + self.bias if x.dim() else self.weight[:, 0] * x + self.bias

# %% squeezes_one_row
# misconception: gives one row an axis more, and takes it away from a batch of one row, too | hint: anatomy_squeezed
# breaks: one row, a batch of rows, a batch of matrices, and
# edits: functional
-        return F.linear(x, self.weight, self.bias)
+        rows = x.unsqueeze(0) if x.dim() == 1 else x
+        return (rows @ self.weight.T + self.bias).squeeze(0)
