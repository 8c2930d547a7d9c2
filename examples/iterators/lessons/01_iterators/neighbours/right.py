# %% pairwise
from itertools import pairwise


def neighbours(items):
    return list(pairwise(items))

# %% list_first
def neighbours(items):
    items = list(items)
    return list(zip(items, items[1:]))

# %% two_iterators
from itertools import tee


def neighbours(items):
    first, second = tee(items)
    next(second, None)
    return list(zip(first, second))

# %% first_by_hand
def neighbours(items):
    source = iter(items)
    try:
        last = next(source)
    except StopIteration:
        return []
    pairs = []
    for item in source:
        pairs.append((last, item))
        last = item
    return pairs
