# %% copied_then_changed
def steer(block, direction):
    def hook(module, args, output):
        steered = dict(output)
        steered["hidden"] = output["hidden"] + direction
        return steered

    return block.register_forward_hook(hook)

# %% one_line
def steer(block, direction):
    return block.register_forward_hook(lambda module, args, output: output | {"hidden": output["hidden"] + direction})

# %% entry_by_entry
def steer(block, direction):
    def hook(module, args, output):
        return {name: value + direction if name == "hidden" else value for name, value in output.items()}

    handle = block.register_forward_hook(hook)
    return handle

# %% partial_of_a_function
def add_direction(direction, module, args, output):
    output = output.copy()
    output["hidden"] = torch.add(output["hidden"], direction)
    return output


def steer(block, direction):
    return block.register_forward_hook(partial(add_direction, direction))

# %% an_object_that_hooks
class Steering:
    def __init__(self, direction):
        self.direction = direction

    def __call__(self, module, args, output):
        return {**output, "hidden": output["hidden"].clone() + self.direction}


def steer(block, direction):
    return block.register_forward_hook(Steering(direction))
