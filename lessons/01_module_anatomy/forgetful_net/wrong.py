# %% tuple
# misconception: a tuple in the place of the list | hint: python_list
# breaks: PyTorch registers all three layers
# edits: module_list
-        self.hidden = nn.ModuleList([nn.Linear(64, 128), nn.Linear(128, 128)])
+        self.hidden = (nn.Linear(64, 128), nn.Linear(128, 128))

# %% local_list
# misconception: the container is a local variable | hint: python_list
# edits: sequential_as_list
-        self.hidden = nn.Sequential(*self.hidden)
+        hidden = nn.ModuleList(self.hidden)

# %% head_in_the_list
# misconception: puts all three layers into the list | hint: anatomy_head_among_the_others
# edits: sequential_as_list
-        self.hidden = nn.Sequential(*self.hidden)
+        self.hidden = nn.ModuleList([*self.hidden, self.head])

# %% first_only
# misconception: registers the first layer | hint: anatomy_layers_left_out
# breaks: all three layers
# edits: sequential_as_list
-        self.hidden = nn.Sequential(*self.hidden)
+        self.first = self.hidden[0]

# %% same_name
# misconception: registers both layers under one name | hint: anatomy_layers_left_out
# edits: sequential_as_list
-        self.hidden = nn.Sequential(*self.hidden)
+        for layer in self.hidden:
+            self.layer = layer

# %% head_forgotten
# misconception: leaves the last layer out of the register | hint: anatomy_layers_left_out | canary
# edits: module_list
-        self.head = nn.Linear(128, 10)
+        self.head = [nn.Linear(128, 10)]
@@
-        return self.head(x)
+        return self.head[0](x)

# %% other_layers_registered
# misconception: registers layers that forward does not use | hint: anatomy_registered_not_used
# edits: sequential_as_list
-        self.hidden = nn.Sequential(*self.hidden)
+        self.layers = nn.ModuleList([nn.Linear(64, 128), nn.Linear(128, 128)])

# %% copies_registered
# misconception: registers copies of the layers | hint: anatomy_registered_not_used
# edits: sequential_as_list
-        self.hidden = nn.Sequential(*self.hidden)
+        import copy
+
+        self.layers = nn.ModuleList(copy.deepcopy(self.hidden))

# %% sequential_without_relu
# misconception: the Sequential runs without the ReLUs | hint: anatomy_activation_lost
# breaks: Do not change what `forward` computes
class RepairedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(64, 128), nn.Linear(128, 128))
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.hidden(x))

# %% relu_once
# misconception: one ReLU behind the whole Sequential | hint: anatomy_activation_lost
# edits: sequential_without_relu
-        return self.head(self.hidden(x))
+        return self.head(F.relu(self.hidden(x)))

# %% relu_behind_the_head
# misconception: the head is in the list, and gets a ReLU as well | hint: anatomy_activation_lost
# edits: module_list
-        return self.head(x)
+        return F.relu(self.head(x))

# %% calls_the_list
# misconception: calls the ModuleList itself | hint: container_without_forward
# edits: module_list
-        for layer in self.hidden:
-            x = F.relu(layer(x))
+        x = F.relu(self.hidden(x))

# %% layers_one_by_one
# misconception: hands the layers to ModuleList one by one | hint: anatomy_container_arguments
# edits: module_list
-        self.hidden = nn.ModuleList([nn.Linear(64, 128), nn.Linear(128, 128)])
+        self.hidden = nn.ModuleList(nn.Linear(64, 128), nn.Linear(128, 128))

# %% module_dict
# misconception: loops over the names of a ModuleDict | hint: anatomy_container_arguments
# edits: module_list
-        self.hidden = nn.ModuleList([nn.Linear(64, 128), nn.Linear(128, 128)])
+        self.hidden = nn.ModuleDict({"first": nn.Linear(64, 128), "second": nn.Linear(128, 128)})

# %% list_in_sequential
# misconception: hands a list to Sequential | hint: anatomy_container_arguments
# edits: sequential_as_list
-        self.hidden = nn.Sequential(*self.hidden)
+        self.hidden = nn.Sequential(self.hidden)

# %% no_return
# misconception: forgets to return | hint: returns_nothing
# edits: module_list
-        return self.head(x)
+        self.head(x)

# %% parameters_registered
# misconception: registers the parameters, and not the layers that have them | hint: anatomy_parameters_for_layers
# breaks: PyTorch registers all three layers
# edits: registered_beside_the_list
-            self.add_module(f"hidden{i}", layer)
+            self.register_parameter(f"weight{i}", layer.weight)
+            self.register_parameter(f"bias{i}", layer.bias)

# %% weights_registered
# misconception: registers the weights, and forgets the biases | hint: anatomy_parameters_for_layers
# edits: sequential_as_list
-        self.hidden = nn.Sequential(*self.hidden)
+        self.weights = nn.ParameterList([layer.weight for layer in self.hidden])
