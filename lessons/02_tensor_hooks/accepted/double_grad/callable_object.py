class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, grad):
        print(grad)
        return grad.data.mul(self.factor)


func = Scale(2)
