# misconception: never registers the hook | hint: hook_never_ran
add = Add()


def hook(module, args, output):
    return output + 5
