# misconception: the hook makes a new list | hint: other_list_returned
def watch_gradient(tensor):
    seen = []

    def hook(grad):
        seen = [grad]

    tensor.register_hook(hook)
    return seen
