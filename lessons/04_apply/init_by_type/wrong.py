# %% adds_a_bias
# misconception: gives a bias to layers that have none | hint: absent_bias
# breaks: it initialises a weight and a bias, where they exist
def init_by_type(module):
    if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
        else:
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        module.bias = Parameter(torch.zeros(module.weight.shape[0]))
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        if module.affine:
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)

# %% all_ones
# misconception: every weight 1 | hint: init_all_equal
def init_by_type(module):
    kinds = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    if isinstance(module, kinds):
        if module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)

# %% bias_left
# misconception: initialises weights only | hint: bias_left_out
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        if module.weight is not None:
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)

# %% by_dimensions
# misconception: takes any weight by its number of dimensions | hint: init_reaches_too_far
def init_by_type(module):
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if weight is not None:
        if weight.dim() == 2:
            nn.init.xavier_uniform_(weight)
        elif weight.dim() > 2:
            nn.init.kaiming_normal_(weight, nonlinearity="relu")
        else:
            nn.init.ones_(weight)
    if bias is not None:
        nn.init.zeros_(bias)

# %% class_name_contains
# misconception: looks for pieces of the class name | hint: name_is_not_type
def init_by_type(module):
    name = module.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.kaiming_normal_(module.weight.data, nonlinearity="relu")
    elif name.find("Linear") != -1:
        nn.init.xavier_uniform_(module.weight.data)
    elif name.find("BatchNorm") != -1:
        if module.weight is not None:
            nn.init.constant_(module.weight.data, 1.0)
    else:
        return
    if module.bias is not None:
        nn.init.constant_(module.bias.data, 0.0)

# %% children_of_each
# misconception: changes the children of each module, so a layer alone is left out | hint: only_the_children
# breaks: a function for `apply`
def init_by_type(module):
    for child in module.children():
        if isinstance(child, nn.Linear):
            nn.init.xavier_uniform_(child.weight)
        elif isinstance(child, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            nn.init.kaiming_normal_(child.weight, nonlinearity="relu")
        elif isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            if child.affine:
                nn.init.ones_(child.weight)
        else:
            continue
        if child.bias is not None:
            nn.init.zeros_(child.bias)

# %% every_module
# misconception: expects every module to have a weight | hint: not_every_module_has_it
def init_by_type(module):
    if module.weight.dim() == 2:
        nn.init.xavier_uniform_(module.weight)
    elif module.weight.dim() > 2:
        nn.init.kaiming_normal_(module.weight)
    else:
        nn.init.ones_(module.weight)
    if module.bias is not None:
        nn.init.zeros_(module.bias)

# %% fan_out
# misconception: spread by the number of outputs, as torchvision has it | hint: init_by_fan_out
# breaks: normal, with a standard deviation of √(2 / fan_in)
def init_by_type(module):
    if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    elif isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        if module.affine:
            nn.init.constant_(module.weight, 1)
    else:
        return
    if module.bias is not None:
        nn.init.constant_(module.bias, 0)

# %% gradients_off
# misconception: switches gradients off in order to write | hint: init_not_trainable
def init_by_type(module):
    kinds = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    if not isinstance(module, kinds):
        return
    module.requires_grad_(False)
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight)
    elif module.affine:
        module.weight.fill_(1)
    if module.bias is not None:
        module.bias.fill_(0)

# %% hasattr_bias
# misconception: hasattr is true for a bias that is None | hint: absent_bias
def init_by_type(module):
    if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
        else:
            nn.init.kaiming_normal_(module.weight)
        if hasattr(module, "bias"):
            module.bias.data.zero_()
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        module.weight.data.fill_(1)
        module.bias.data.zero_()

# %% kaiming_for_both
# misconception: Kaiming for linear layers too | hint: one_start_for_all_types
def init_by_type(module):
    if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        if module.affine:
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)

# %% norm_is_affine
# misconception: expects every batch norm to have a weight | hint: absent_bias
# edits: early_returns
-        return
-    if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
-        nn.init.kaiming_normal_(module.weight)
+    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
+        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
@@
-        return
-    if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)) and module.affine:
+    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):

# %% norms_forgotten
# misconception: forgets batch norms | hint: init_type_missed | canary
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)

# %% all_norms
# misconception: ones for every norm | hint: init_reaches_too_far
# edits: norms_forgotten
+    elif isinstance(module, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)):
+        if module.weight is not None:
+            nn.init.ones_(module.weight)
     else:

# %% base_of_norms
# misconception: takes the common base class, which instance norms share | hint: init_reaches_too_far
# edits: all_norms
-    elif isinstance(module, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)):
+    elif isinstance(module, nn.modules.batchnorm._NormBase):

# %% exact_class
# misconception: compares classes, so subclasses are left out | hint: name_is_not_type
# breaks: and of their subclasses
# edits: all_norms
-    if isinstance(module, nn.Linear):
+    if type(module) is nn.Linear:
         nn.init.xavier_uniform_(module.weight)
-    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
+    elif type(module) in (nn.Conv1d, nn.Conv2d, nn.Conv3d):
         nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
-    elif isinstance(module, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)):
+    elif type(module) in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d):

# %% norms_zero
# misconception: zeros for weight and bias of batch norms | hint: wrong_start
# breaks: `nn.BatchNorm1d`, `nn.BatchNorm2d`, `nn.BatchNorm3d` | 1 | 0
# edits: norms_forgotten
         nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
+    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
+        if module.affine:
+            nn.init.zeros_(module.weight)

# %% bias_ones
# misconception: sets biases to 1 | hint: wrong_start
# edits: norms_zero
-            nn.init.zeros_(module.weight)
+            nn.init.ones_(module.weight)
@@
-        nn.init.zeros_(module.bias)
+        nn.init.ones_(module.bias)

# %% gain_of_relu
# misconception: a gain of its own for linear layers | hint: init_not_by_table
# edits: bias_ones
-        nn.init.xavier_uniform_(module.weight)
+        nn.init.xavier_uniform_(module.weight, gain=nn.init.calculate_gain("relu"))
@@
-        nn.init.ones_(module.bias)
+        nn.init.zeros_(module.bias)

# %% kaiming_uniform
# misconception: uniform instead of normal | hint: init_other_distribution
# edits: bias_ones
-        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
+        nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
@@
-        nn.init.ones_(module.bias)
+        nn.init.zeros_(module.bias)

# %% conv2d_only
# misconception: forgets Conv1d and Conv3d | hint: init_type_missed
# edits: kaiming_uniform
-    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
-        nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
-    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
+    elif isinstance(module, nn.Conv2d):
+        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
+    elif isinstance(module, nn.BatchNorm2d):

# %% rebinds
# misconception: rebinds a local name | hint: apply_changes_nothing
def init_by_type(module):
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if isinstance(module, nn.Linear):
        weight = nn.init.xavier_uniform_(torch.empty_like(weight))
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        weight = nn.init.kaiming_normal_(torch.empty_like(weight))
    if bias is not None:
        bias = torch.zeros_like(bias)

# %% reset_parameters
# misconception: PyTorch's own initialisation for each layer | hint: init_not_by_table
def init_by_type(module):
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()
    if getattr(module, "bias", None) is not None:
        nn.init.zeros_(module.bias)

# %% swapped
# misconception: mixes the two up | hint: one_start_for_all_types
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)) and module.affine:
        nn.init.ones_(module.weight)
    if getattr(module, "bias", None) is not None:
        nn.init.zeros_(module.bias)

# %% takes_model
# misconception: takes the name as well | hint: apply_argument
def init_by_type(name, module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)

# %% xavier_for_all
# misconception: xavier for everything that has a weight | hint: init_needs_two_dimensions
def init_by_type(module):
    if hasattr(module, "weight"):
        nn.init.xavier_uniform_(module.weight)
    if getattr(module, "bias", None) is not None:
        nn.init.zeros_(module.bias)

# %% xavier_normal
# misconception: normal instead of uniform | hint: init_other_distribution
# breaks: uniform between ±√(6 / (fan_in + fan_out))
# edits: gain_of_relu
-        nn.init.xavier_uniform_(module.weight, gain=nn.init.calculate_gain("relu"))
+        nn.init.xavier_normal_(module.weight)

# %% inputs_of_all_groups
# misconception: counts the input channels of all groups, where an output has those of its own only | hint: init_not_by_table
# edits: all_norms
-        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
-    elif isinstance(module, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)):
+        nn.init.normal_(module.weight, std=(2 / (module.in_channels * module.weight[0, 0].numel())) ** 0.5)
+    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):

# %% base_of_convolutions
# misconception: takes the common base class, which transposed convolutions share | hint: init_reaches_too_far
# breaks: all other modules stay as they are
# edits: inputs_of_all_groups
-    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
-        nn.init.normal_(module.weight, std=(2 / (module.in_channels * module.weight[0, 0].numel())) ** 0.5)
+    elif isinstance(module, nn.modules.conv._ConvNd):
+        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
