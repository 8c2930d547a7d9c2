# misconception: walks modules() inside the function | hint: recurses_again
model = Model()
answer = []


def collect(module):
    for part in module.modules():
        answer.append(type(part).__name__)


model.apply(collect)
