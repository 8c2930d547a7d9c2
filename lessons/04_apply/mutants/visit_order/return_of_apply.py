# misconception: takes what apply returns for the answer | hint: model_for_list
model = Model()
answer = model.apply(lambda module: type(module).__name__)
