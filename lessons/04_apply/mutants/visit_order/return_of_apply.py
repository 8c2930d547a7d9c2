# misconception: takes what apply returns for the answer | hint: none
model = Model()
answer = model.apply(lambda module: type(module).__name__)
