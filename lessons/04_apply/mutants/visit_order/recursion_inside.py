# misconception: recurses although apply does so already | hint: recurses_again
model = Model()
answer = []


def collect(module):
    for child in module.children():
        child.apply(collect)
    answer.append(type(module).__name__)


model.apply(collect)
