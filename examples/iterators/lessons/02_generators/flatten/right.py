# %% loop_for_yield_from
def flatten(nested):
    for item in nested:
        if type(item) is list:
            for inner in flatten(item):
                yield inner
        else:
            yield item

# %% one_thing_or_many
def flatten(nested):
    if not isinstance(nested, list):
        yield nested
        return
    for item in nested:
        yield from flatten(item)

# %% stack_of_needles
def flatten(nested):
    needles = [iter(nested)]
    while needles:
        for item in needles[-1]:
            if isinstance(item, list):
                needles.append(iter(item))
                break
            yield item
        else:
            needles.pop()

# %% things_to_do
def flatten(nested):
    left = list(nested)[::-1]
    while left:
        item = left.pop()
        if isinstance(item, list):
            left += reversed(item)
        else:
            yield item
