# misconception: makes the output right by another forward | hint: changes_nothing
model = Model()


def weight_initialization(module):
    module.forward = lambda x: x


returned_module = model.apply(weight_initialization)
