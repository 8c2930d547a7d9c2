# misconception: adds up, as .grad does | hint: accumulated_grad
def watch_gradient(tensor):
    seen = []

    def hook(grad):
        seen.append(grad + seen[-1] if seen else grad)

    tensor.register_hook(hook)
    return seen
