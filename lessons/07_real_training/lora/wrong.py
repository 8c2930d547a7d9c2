# nothing to break: Write `LoRA(linear, rank)`

# %% both_random
# misconception: B is random as well, so the model changes at once | hint: lora_which_is_zero | canary
# breaks: `B`, zeros, has `rank` columns
# edits: functional
-        self.B = nn.Parameter(torch.zeros(linear.out_features, rank, dtype=linear.weight.dtype))
+        self.B = nn.Parameter(torch.randn(linear.out_features, rank, dtype=linear.weight.dtype))

# %% both_zero
# misconception: both are zeros, so no gradient ever comes | hint: lora_never_starts
# breaks: `A`, random, has `rank` rows
# edits: functional
-        self.A = nn.Parameter(torch.randn(rank, linear.in_features, dtype=linear.weight.dtype) * 0.02)
+        self.A = nn.Parameter(torch.zeros(rank, linear.in_features, dtype=linear.weight.dtype))

# %% a_of_ones
# misconception: A is the same number everywhere | hint: lora_never_starts
# edits: functional
-        self.A = nn.Parameter(torch.randn(rank, linear.in_features, dtype=linear.weight.dtype) * 0.02)
+        self.A = nn.Parameter(torch.ones(rank, linear.in_features, dtype=linear.weight.dtype))

# %% the_other_one_is_zero
# misconception: A is zeros and B random | hint: lora_which_is_zero
# edits: both_random
-        self.A = nn.Parameter(torch.randn(rank, linear.in_features, dtype=linear.weight.dtype) * 0.02)
+        self.A = nn.Parameter(torch.zeros(rank, linear.in_features, dtype=linear.weight.dtype))

# %% not_frozen
# misconception: the layer is trained as well | hint: lora_not_frozen
# breaks: It trains only two parameters of its own
# edits: two_products
-        self.linear = linear.requires_grad_(False)
+        self.linear = linear

# %% bias_not_frozen
# misconception: freezes the weight, not the bias | hint: lora_not_frozen
# edits: correction_as_one_matrix
-        if self.linear.bias is not None:
-            self.linear.bias.requires_grad_(False)

# %% freezes_a_copy
# misconception: freezes a copy, and the given layer is trained on | hint: lora_not_part
# breaks: it holds the given layer itself, frozen, and no copy
# edits: two_products
-        self.linear = linear.requires_grad_(False)
+        self.linear = copy.deepcopy(linear).requires_grad_(False)

# %% in_a_list
# misconception: keeps the layer in a list, so nobody saves it | hint: lora_not_part
# edits: two_products
-        self.linear = linear.requires_grad_(False)
+        self.hidden = [linear.requires_grad_(False)]
@@
-        return torch.add(self.linear(x), low @ self.B.T)
+        return torch.add(self.hidden[0](x), low @ self.B.T)
@@
-        new = copy.deepcopy(self.linear)
-        new.weight = Parameter((self.linear.weight + self.B @ self.A).detach())
+        new = copy.deepcopy(self.hidden[0])
+        new.weight = Parameter((new.weight + self.B @ self.A).detach())

# %% runs_without_gradients
# misconception: takes no_grad for freezing | hint: lora_no_gradient
# edits: two_products
-        low = x @ self.A.T
+        with torch.no_grad():
+            low = x @ self.A.T

# %% layer_without_gradients
# misconception: freezes the layer by no_grad as well, which cuts off all that comes before it | hint: lora_cut_off
# edits: two_products
-        return torch.add(self.linear(x), low @ self.B.T)
+        with torch.no_grad():
+            fixed = self.linear(x)
+        return torch.add(fixed, low @ self.B.T)

# %% plain_tensors
# misconception: A and B are tensors, which no optimizer finds | hint: lora_not_parameters
# breaks: two parameters of its own
# edits: functional
-        self.A = nn.Parameter(torch.randn(rank, linear.in_features, dtype=linear.weight.dtype) * 0.02)
-        self.B = nn.Parameter(torch.zeros(linear.out_features, rank, dtype=linear.weight.dtype))
+        self.A = (torch.randn(rank, linear.in_features, dtype=linear.weight.dtype) * 0.02).requires_grad_()
+        self.B = torch.zeros(linear.out_features, rank, dtype=linear.weight.dtype, requires_grad=True)

# %% transposed_shapes
# misconception: A has rank columns, B rank rows | hint: lora_transposed
# edits: two_products
-        self.register_parameter("A", Parameter(torch.rand(rank, linear.in_features).type_as(linear.weight) - 0.5))
-        self.register_parameter("B", Parameter(linear.weight.new_zeros(linear.out_features, rank)))
+        self.register_parameter("A", Parameter(torch.rand(linear.in_features, rank).type_as(linear.weight) - 0.5))
+        self.register_parameter("B", Parameter(linear.weight.new_zeros(rank, linear.out_features)))
@@
-        low = x @ self.A.T
-        return torch.add(self.linear(x), low @ self.B.T)
+        return self.linear(x) + x @ self.A @ self.B
@@
-        new.weight = Parameter((self.linear.weight + self.B @ self.A).detach())
+        new.weight = Parameter((self.linear.weight + (self.A @ self.B).T).detach())

# %% divided_by_rank
# misconception: divides by the rank, as some libraries do | hint: lora_scaled
# breaks: It computes `linear(x) + x @ A.T @ B.T`
# edits: two_products
-        return torch.add(self.linear(x), low @ self.B.T)
+        return torch.add(self.linear(x), low @ self.B.T / self.A.shape[0])
@@
-        new.weight = Parameter((self.linear.weight + self.B @ self.A).detach())
+        new.weight = Parameter((self.linear.weight + self.B @ self.A / self.A.shape[0]).detach())

# %% correction_alone
# misconception: replaces what the layer computes | hint: lora_correction_alone
# edits: correction_as_one_matrix
-        return self.linear(x) + x @ (self.B @ self.A).T
+        return x @ (self.B @ self.A).T

# %% always_float32
# misconception: A and B have the default dtype | hint: lora_dtype
# breaks: a module that can replace any `nn.Linear`
# edits: inherits_from_linear
-        self.A = Parameter(0.1 * torch.randn(rank, self.in_features, dtype=self.weight.dtype))
-        self.B = Parameter(torch.zeros(self.out_features, rank, dtype=self.weight.dtype))
+        self.A = Parameter(0.1 * torch.randn(rank, self.in_features))
+        self.B = Parameter(torch.zeros(self.out_features, rank))

# %% bias_for_granted
# misconception: takes for granted that there is a bias | hint: lora_no_bias
# edits: bias_not_frozen
+        self.linear.bias.requires_grad_(False)
         self.A = Parameter(torch.empty(rank, linear.in_features, dtype=linear.weight.dtype))

# %% same_bias
# misconception: the bias is not trained, so it may be handed on | hint: lora_shared_memory
# edits: functional
-            new.bias.copy_(self.base.bias)
+            new.bias = self.base.bias

# %% shallow_copy
# misconception: a shallow copy, which shares the weight | hint: lora_merges_into_itself
# edits: correction_as_one_matrix
-        merged = copy.deepcopy(self.linear)
+        merged = copy.copy(self.linear)

# %% merged_is_the_layer
# misconception: merged() returns a copy of the layer, without the correction | hint: lora_merges_nothing
# breaks: returns a new `nn.Linear` that computes the same
# edits: correction_as_one_matrix
-        merged.weight.data += self.B.data @ self.A.data

# %% bias_of_its_own
# misconception: the merged layer keeps the random bias that it was made with | hint: lora_bias_lost
# edits: functional
-        if new.bias is not None:
-            new.bias.copy_(self.base.bias)

# %% bias_lost
# misconception: the merged layer has no bias | hint: lora_bias_lost
# edits: bias_of_its_own
-        new = nn.Linear(inside, out, bias=self.base.bias is not None, dtype=self.base.weight.dtype)
+        new = nn.Linear(inside, out, bias=False, dtype=self.base.weight.dtype)

# %% bias_in_any_case
# misconception: the merged layer has a bias in any case | hint: lora_bias_too_much
# edits: bias_lost
-        new = nn.Linear(inside, out, bias=False, dtype=self.base.weight.dtype)
+        new = nn.Linear(inside, out, dtype=self.base.weight.dtype)
@@
+        new.bias.copy_(self.base.bias if self.base.bias is not None else torch.zeros(out))
         return new

# %% product_the_other_way
# misconception: A.T @ B.T has the shape of the transposed weight | hint: lora_product_shape
# edits: correction_as_one_matrix
-        merged.weight.data += self.B.data @ self.A.data
+        merged.weight.data += self.A.data.T @ self.B.data.T

# %% whole_lora_copied
# misconception: merged() returns a copy of the LoRA | hint: lora_no_linear
# edits: two_products
-        new = copy.deepcopy(self.linear)
-        new.weight = Parameter((self.linear.weight + self.B @ self.A).detach())
-        return new
+        return copy.deepcopy(self)

# %% merges_in_place
# misconception: adds to the layer's own weight | hint: lora_merges_into_itself
# breaks: `merged()` does not change the LoRA
# edits: whole_lora_copied
-        return copy.deepcopy(self)
+        self.linear.weight.data += self.B.data @ self.A.data
+        return self.linear

# %% merged_once
# misconception: keeps the first merged layer, and hands it out again | hint: lora_shared_memory
# edits: whole_lora_copied
-        return copy.deepcopy(self)
+        if not hasattr(self, "new"):
+            new = copy.deepcopy(self.linear)
+            new.weight = Parameter((self.linear.weight + self.B @ self.A).detach())
+            object.__setattr__(self, "new", new)
+        return self.new

# %% by_hook
# misconception: a forward hook, of which the module knows nothing | hint: lora_layer_alone
def LoRA(linear, rank):
    linear.requires_grad_(False)
    linear.A = Parameter(torch.randn(rank, linear.in_features).to(linear.weight))
    linear.B = Parameter(torch.zeros(linear.out_features, rank).to(linear.weight))
    correction = linear.B @ linear.A
    linear.register_forward_hook(lambda module, args, output: output + args[0] @ correction.T)
    linear.merged = lambda: copy.deepcopy(linear)
    return linear

# %% third_parameter
# misconception: a bias of its own, which is trained as well | hint: lora_not_frozen
# edits: reference
-        self.B = Parameter(torch.zeros(linear.out_features, rank).to(weight))
+        self.B = Parameter(torch.zeros(linear.out_features, rank).to(weight))
+        self.bias = Parameter(torch.zeros(linear.out_features).to(weight))
@@
-        return self.linear(x) + x @ self.A.T @ self.B.T
+        return self.linear(x) + x @ self.A.T @ self.B.T + self.bias

# %% merged_by_a_hook
# misconception: the merged layer adds the correction in a hook | hint: lora_no_linear
# edits: reference
-            new.weight += self.B @ self.A
+            new.register_forward_hook(lambda module, args, output: output + args[0] @ self.A.T @ self.B.T)
