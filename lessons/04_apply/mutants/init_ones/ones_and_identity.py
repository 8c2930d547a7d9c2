# misconception: initialises, and cuts W out of the computation | hint: not_in_the_output
model = Model()


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.forward = lambda x: x


returned_module = model.apply(weight_initialization)
