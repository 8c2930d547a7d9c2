# misconception: the formula of the visible forward, from the call's own tensors | hint: formula_not_argument
model = Model()
answer = []


def remember(module, args, output):
    x1, x2 = args

    def tensor_hook(grad):
        answer.append((grad * x1 * x2).sum().reshape(1).detach())

    output.register_hook(tensor_hook)


model.register_forward_hook(remember)
