# misconception: expects every module to have a W | hint: not_every_module_has_it
model = Model()


def weight_initialization(module):
    module.W.data.fill_(1)


returned_module = model.apply(weight_initialization)
