# misconception: never registers | hint: hook_never_ran
def watch_gradient(tensor):
    seen = []

    def hook(grad):
        seen.append(grad)

    return seen
