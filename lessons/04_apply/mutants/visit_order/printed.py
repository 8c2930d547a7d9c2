# misconception: prints instead of collecting | hint: nothing_collected
model = Model()
answer = []
model.apply(lambda module: print(type(module).__name__))
