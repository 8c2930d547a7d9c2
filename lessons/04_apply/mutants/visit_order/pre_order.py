# misconception: takes the order of modules() for the order of apply | hint: apply_pre_order
model = Model()
answer = [type(module).__name__ for module in model.modules()]
