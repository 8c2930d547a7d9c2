# %% callable_object
add = Add()


class Shift:
    def __init__(self, amount):
        self.amount = amount

    def __call__(self, module, args, kwargs, output):
        return torch.add(output, torch.full_like(output, self.amount))


hook = Shift(5)
add.register_forward_hook(hook, with_kwargs=True)

# %% lambda_with_partial
add = Add()


hook = partial(lambda amount, module, args, output: output + amount, 5)

add.register_forward_hook(hook)

# %% rebinds_and_returns
add = Add()


def hook(module, input, output):
    output = output + 5
    return output


add.register_forward_hook(hook)

# %% five_times_one
add = Add()


def hook(module, args, output):
    return output + 1


for _ in range(5):
    add.register_forward_hook(hook)

# %% in_place
add = Add()


def hook(module, args, output):
    output += 5


add.register_forward_hook(hook)
