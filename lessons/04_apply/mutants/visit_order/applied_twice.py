# misconception: the apply call stands in the cell twice | hint: applied_twice
model = Model()
answer = []


def collect(module):
    answer.append(type(module).__name__)


model.apply(collect)
returned_module = model.apply(collect)
