# misconception: forgets that the module itself is visited too | hint: root_missing
model = Model()
answer = []
for child in model.children():
    child.apply(lambda module: answer.append(type(module).__name__))
