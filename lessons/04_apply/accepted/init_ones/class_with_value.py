class Fill:
    def __init__(self, value):
        self.value = value

    def __call__(self, module):
        try:
            weight = module.W
        except AttributeError:
            return
        nn.init.constant_(weight, self.value)


model = Model()
weight_initialization = Fill(1.0)
returned_module = model.apply(weight_initialization)
