add = Add()


class Shift:
    def __init__(self, amount):
        self.amount = amount

    def __call__(self, module, args, kwargs, output):
        return torch.add(output, torch.full_like(output, self.amount))


hook = Shift(5)
add.register_forward_hook(hook, with_kwargs=True)
