# misconception: makes the output right by another forward | hint: apply_changes_nothing
model = Model()


def weight_initialization(module):
    module.forward = lambda x: x


returned_module = model.apply(weight_initialization)
