# misconception: the classes themselves, not their names | hint: not_class_names
model = Model()
answer = []
model.apply(lambda module: answer.append(type(module)))
