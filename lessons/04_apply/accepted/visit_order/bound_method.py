class Visitor:
    def __init__(self):
        self.seen = []

    def __call__(self, module):
        self.seen.append(module._get_name())


visitor = Visitor()
answer = Model(shape=(2, 2)).apply(visitor) and visitor.seen
