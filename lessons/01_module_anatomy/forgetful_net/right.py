# %% module_list
class RepairedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(64, 128), nn.Linear(128, 128)])
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        for layer in self.hidden:
            x = F.relu(layer(x))
        return self.head(x)

# %% attributes
class RepairedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 128)
        self.second = nn.Linear(128, 128)
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        return self.head(F.relu(self.second(F.relu(self.first(x)))))

# %% one_sequential
class RepairedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x):
        return self.net(x)

# %% registered_beside_the_list
class RepairedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(64, 128), nn.Linear(128, 128)]
        self.head = nn.Linear(128, 10)
        for i, layer in enumerate(self.hidden):
            self.add_module(f"hidden{i}", layer)

    def forward(self, x):
        for layer in self.hidden:
            x = F.relu(layer(x))
        return self.head(x)

# %% sequential_as_list
class RepairedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(64, 128), nn.Linear(128, 128)]
        self.head = nn.Linear(128, 10)
        self.hidden = nn.Sequential(*self.hidden)

    def forward(self, x):
        for layer in self.hidden:
            x = F.relu(layer(x))
        return self.head(x)
