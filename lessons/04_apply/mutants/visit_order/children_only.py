# misconception: thinks that apply visits direct children only | hint: apply_skips_nested
model = Model()
answer = []
for child in model.children():
    answer.append(type(child).__name__)
