# misconception: collects the leaves only | hint: leaves_only
model = Model()
answer = []


def collect(module):
    if not list(module.children()):
        answer.append(type(module).__name__)


model.apply(collect)
