# misconception: a lambda whose value replaces the output | hint: watcher_changes_output
add = Add()
answer = []


def pre_hook(module, args):
    answer.extend(args)


hook = lambda module, args, output: (answer.append(output), print(output))


add.register_forward_pre_hook(pre_hook)
add.register_forward_hook(hook)
