model = Model()
answer = []
model.apply(lambda module: answer.append(module.__class__.__name__)).apply(lambda module: None)
