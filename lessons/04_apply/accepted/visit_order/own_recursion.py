model = Model()
answer = []


def walk(module):
    for child in module.children():
        walk(child)
    answer.append(type(module).__name__)


walk(model)
