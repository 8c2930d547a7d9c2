# misconception: takes post-order for pre-order backwards | hint: reversed_pre_order
model = Model()
answer = [type(module).__name__ for module in reversed(list(model.modules()))]
