# %% collects
def chunks(items, size):
    found = []
    for item in items:
        found.append(item)
        if len(found) == size:
            yield found
            found = []
    if found:
        yield found

# %% hands_out_copies
def chunks(items, size):
    found = []
    for item in items:
        found.append(item)
        if len(found) == size:
            yield list(found)
            found.clear()
    if found:
        yield found

# %% two_arguments_of_iter
def chunks(items, size):
    source = iter(items)
    return iter(lambda: list(islice(source, size)), [])

# %% next_and_islice
def chunks(items, size):
    source = iter(items)
    for first in source:
        yield [first, *islice(source, size - 1)]
