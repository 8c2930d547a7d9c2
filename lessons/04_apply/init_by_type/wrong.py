# nothing to break: You may rely on this: a batch norm has a weight and a bias or neither, and no weight is computed from something else, as weight normalisation does it.

# %% adds_a_bias
# misconception: gives a bias to layers that have none | hint: absent_bias
# breaks: A weight or a bias that is not there stays away
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

# %% adds_a_bias_to_bare_norms
# misconception: gives weight and bias to batch norms that have none | hint: absent_bias
# edits: frozen_layers_are_thawed
-        if module.weight is not None:
-            nn.init.ones_(module.weight)
+        module.weight = Parameter(torch.ones(module.num_features))
+        module.bias = Parameter(torch.zeros(module.num_features))
@@
-    module.requires_grad_(True)

# %% all_biases
# misconception: zeros for every bias below | hint: init_reaches_too_far
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        if module.affine:
            nn.init.ones_(module.weight)
    for name, parameter in module.named_parameters():
        if "bias" in name:
            nn.init.zeros_(parameter)

# %% all_norms
# misconception: ones for every norm | hint: init_reaches_too_far
# edits: frozen_layers_are_thawed
-    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
+    elif isinstance(module, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)):
@@
-    module.requires_grad_(True)

# %% all_ones
# misconception: every weight 1 | hint: init_all_equal
def init_by_type(module):
    kinds = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    if isinstance(module, kinds):
        if module.weight is not None:
            nn.init.ones_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)

# %% bias_is_none
# misconception: expects every layer to have a bias | hint: absent_bias
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        nn.init.zeros_(module.bias)
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        nn.init.ones_(module.weight)
        nn.init.zeros_(module.bias)

# %% bias_left
# misconception: initialises weights only | hint: bias_left_out
# breaks: it initialises the module that it is given
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        if module.weight is not None:
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)

# %% bias_ones
# misconception: sets biases to 1 | hint: wrong_start
# edits: frozen_layers_are_thawed
-        if module.weight is not None:
+        if module.affine:
@@
-        nn.init.zeros_(module.bias)
-    module.requires_grad_(True)
+        nn.init.ones_(module.bias)

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
# breaks: whatever their class is called
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

# %% class_name_equals
# misconception: compares class names | hint: name_is_not_type
def init_by_type(module):
    name = type(module).__name__
    if name == "Linear":
        nn.init.xavier_uniform_(module.weight)
    elif name in ("Conv1d", "Conv2d", "Conv3d"):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"):
        if module.affine:
            nn.init.ones_(module.weight)
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)

# %% conv2d_only
# misconception: forgets Conv1d and Conv3d | hint: init_type_missed
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif isinstance(module, nn.BatchNorm2d):
        if module.affine:
            nn.init.ones_(module.weight)
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)

# %% conv_bias_left
# misconception: forgets the bias of convolutions | hint: bias_left_out
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            module.bias.data.zero_()
    if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)) and module.affine:
        module.weight.data.fill_(1)
        module.bias.data.zero_()

# %% dcgan_numbers
# misconception: a fixed spread, as in a tutorial | hint: init_not_by_table
def init_by_type(module):
    if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.normal_(module.weight, 0.0, 0.02)
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        nn.init.ones_(module.weight)
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)

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

# %% exact_class
# misconception: compares classes, so subclasses are left out | hint: name_is_not_type
# breaks: Subclasses of these classes count
def init_by_type(module):
    if type(module) is nn.Linear:
        nn.init.xavier_uniform_(module.weight)
    elif type(module) in (nn.Conv1d, nn.Conv2d, nn.Conv3d):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif type(module) in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d):
        if module.weight is not None:
            nn.init.ones_(module.weight)
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)

# %% fan_out
# misconception: spread by the number of outputs, as torchvision has it | hint: init_by_fan_out
# breaks: normal, with a spread of √(2 / fan_in)
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

# %% gain_of_relu
# misconception: a gain of its own for linear layers | hint: init_not_by_table
# edits: bias_ones
-        nn.init.xavier_uniform_(module.weight)
+        nn.init.xavier_uniform_(module.weight, gain=nn.init.calculate_gain("relu"))
@@
-        nn.init.ones_(module.bias)
+        nn.init.zeros_(module.bias)

# %% gradients_off
# misconception: switches gradients off in order to write | hint: init_not_trainable
# breaks: what could be trained before can be trained afterwards
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

# %% kaiming_uniform
# misconception: uniform instead of normal | hint: init_other_distribution
# edits: all_norms
-        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
-    elif isinstance(module, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)):
-        if module.weight is not None:
+        nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
+    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
+        if module.affine:

# %% norm_is_affine
# misconception: expects every batch norm to have a weight | hint: absent_bias
def init_by_type(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        nn.init.ones_(module.weight)
        nn.init.zeros_(module.bias)

# %% norms_forgotten
# misconception: forgets batch norms | hint: init_type_missed
# edits: adds_a_bias_to_bare_norms
-    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
-        module.weight = Parameter(torch.ones(module.num_features))
-        module.bias = Parameter(torch.zeros(module.num_features))

# %% norms_zero
# misconception: zeros for weight and bias of batch norms | hint: wrong_start
# breaks: `nn.BatchNorm1d`, `nn.BatchNorm2d`, `nn.BatchNorm3d` | 1 | 0
# edits: adds_a_bias_to_bare_norms
-        module.weight = Parameter(torch.ones(module.num_features))
-        module.bias = Parameter(torch.zeros(module.num_features))
+        if module.affine:
+            nn.init.zeros_(module.weight)

# %% one_batch_norm
# misconception: forgets two kinds of batch norm | hint: init_type_missed
# edits: conv2d_only
-    elif isinstance(module, nn.Conv2d):
+    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):

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
# misconception: PyTorch's own start for each layer | hint: init_not_by_table
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
# breaks: a function for `apply`
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

# %% base_of_convolutions
# misconception: takes the common base class, which transposed convolutions share | hint: init_reaches_too_far
# breaks: `nn.ConvTranspose2d`, your own classes) stay as they
# edits: frozen_layers_are_thawed
-    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
+    elif isinstance(module, nn.modules.conv._ConvNd):
@@
-    module.requires_grad_(True)

# %% new_float32_parameters
# misconception: makes new parameters of the default dtype | hint: init_dtype_lost
# breaks: Every parameter keeps its shape and its dtype
# edits: new_parameters
-        module.bias = Parameter(torch.zeros_like(module.bias))
+        module.bias = Parameter(torch.zeros(module.bias.shape))
@@
-    weight = torch.ones_like(module.weight).detach()
+    weight = torch.ones(module.weight.shape)

# %% skips_frozen
# misconception: leaves frozen layers out | hint: init_frozen_left_out
# breaks: Frozen layers, and layers in eval mode, are initialised like any other
# edits: frozen_layers_are_thawed
 def init_by_type(module):
+    if any(not one.requires_grad for one in module.parameters(recurse=False)):
+        return
@@
-    module.requires_grad_(True)

# %% base_of_norms
# misconception: takes the common base class of batch norms, which others share | hint: init_reaches_too_far
# edits: all_norms
-    elif isinstance(module, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)):
+    elif isinstance(module, nn.modules.batchnorm._BatchNorm):

# %% seed_inside
# misconception: sets the seed at each visit, so that layers of one size start alike | hint: init_same_numbers
# breaks: Two layers of the same size start with different numbers
# edits: skips_frozen
-    if any(not one.requires_grad for one in module.parameters(recurse=False)):
-        return
+    torch.manual_seed(0)

# %% fan_in_without_groups
# misconception: counts all input channels, also with groups | hint: init_ignores_groups
# edits: all_norms
-        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
-    elif isinstance(module, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)):
+        fan_in = module.in_channels * module.weight[0, 0].numel()
+        nn.init.normal_(module.weight, std=(2 / fan_in) ** 0.5)
+    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):

# %% whole_tree
# misconception: goes through the tree itself, at each call | hint: init_reaches_too_far
# breaks: leaves what is inside that module to the other calls
# edits: frozen_layers_are_thawed
-def init_by_type(module):
+def one_of_them(module):
@@
-    module.requires_grad_(True)
+
+
+def init_by_type(module):
+    for part in module.modules():
+        one_of_them(part)

# %% marked_as_done
# misconception: leaves a mark, and does nothing the next time | hint: init_only_once
# breaks: Each time that it is called
# edits: seed_inside
-    torch.manual_seed(0)
+    if hasattr(module, "started"):
+        return
+    module.started = True

# %% convolutions_in_float32
# misconception: draws new numbers in the default dtype | hint: init_dtype_lost
# breaks: Every parameter keeps its shape and its dtype
# edits: norms_forgotten
-        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
+        module.weight.data = torch.randn(module.weight.shape) * (2 / module.weight[0].numel()) ** 0.5
+    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)) and module.affine:
+        nn.init.ones_(module.weight)

# %% norms_in_float32
# misconception: makes ones and zeros in the default dtype | hint: init_dtype_lost
# edits: norms_forgotten
 def init_by_type(module):
+    if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
+        if module.affine:
+            module.weight.data = torch.ones(module.num_features)
+            module.bias.data = torch.zeros(module.num_features)
+        return

# %% skips_frozen_norms
# misconception: takes a frozen batch norm for one that must keep its numbers | hint: init_frozen_left_out
# edits: norms_forgotten
 def init_by_type(module):
+    if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
+        if module.affine and module.weight.requires_grad:
+            nn.init.ones_(module.weight)
+            nn.init.zeros_(module.bias)
+        return

# %% generator_of_convolutions
# misconception: a generator of the same seed for each convolution | hint: init_same_numbers
# edits: convolutions_in_float32
-        module.weight.data = torch.randn(module.weight.shape) * (2 / module.weight[0].numel()) ** 0.5
+        nn.init.kaiming_normal_(module.weight, nonlinearity="relu", generator=torch.Generator().manual_seed(0))

# %% all_parameters_below
# misconception: a layer has no modules inside, so all of its parameters are its own | hint: init_reaches_too_far
# breaks: leaves what is inside that module to the other calls
def init_by_type(module):
    if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        for name, parameter in module.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.kaiming_normal_(parameter, nonlinearity="relu")
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)) and module.affine:
        nn.init.ones_(module.weight)
        nn.init.zeros_(module.bias)

# %% only_in_training_mode
# misconception: leaves batch norms in eval mode as they are | hint: init_frozen_left_out
# breaks: Frozen layers, and layers in eval mode, are initialised like any other
# edits: norms_forgotten
         nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
+    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)) and module.affine and module.training:
+        nn.init.ones_(module.weight)

# %% statistics_for_affine
# misconception: takes a batch norm without running statistics for one without weight and bias | hint: init_frozen_left_out
# edits: only_in_training_mode
-    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)) and module.affine and module.training:
+    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
+        if not module.affine or not module.track_running_stats:
+            return

# %% bias_times_zero
# misconception: multiplies the bias by 0, which leaves NaN as it is | hint: depends_on_old_value
# breaks: What it held before, be it NaN, does not matter
# edits: convolutions_in_float32
-        module.weight.data = torch.randn(module.weight.shape) * (2 / module.weight[0].numel()) ** 0.5
+        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
@@
-        nn.init.zeros_(module.bias)
+        module.bias.data *= 0
