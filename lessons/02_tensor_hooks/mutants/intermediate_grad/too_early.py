# misconception: reads .grad at once, without a hook | hint: asks_too_early
def watch_gradient(tensor):
    return [tensor.grad]
