# misconception: the modules themselves | hint: not_class_names
model = Model()
answer = []
model.apply(answer.append)
