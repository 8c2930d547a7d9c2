# misconception: the repr instead of the class name | hint: not_class_names
model = Model()
answer = []
model.apply(lambda module: answer.append(str(module)))
