# misconception: hooks what is visited just once | hint: shared_left_out
from collections import Counter


def hook_once(model, hook):
    visits = Counter()
    model.apply(lambda module: visits.update([module]))
    return [module.register_forward_hook(hook) for module, number in visits.items() if number == 1]
