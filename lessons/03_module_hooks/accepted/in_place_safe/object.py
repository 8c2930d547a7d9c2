class GradientKeeper:
    def __init__(self):
        self.gradients = []

    def meet(self, module, args, output):
        if output.requires_grad:
            output.register_hook(self.keep)

    def keep(self, grad):
        self.gradients.append(grad)


def output_gradients(layer):
    keeper = GradientKeeper()
    layer.register_forward_hook(keeper.meet)
    return keeper.gradients
