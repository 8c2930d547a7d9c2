# %% islice
def take(items, n):
    return list(islice(items, n))

# %% default
def take(items, n):
    source, nothing, found = iter(items), object(), []
    for _ in range(n):
        item = next(source, nothing)
        if item is not nothing:
            found.append(item)
    return found

# %% zip_with_range
def take(items, n):
    # The range stands first: when it is over, zip asks for nothing more.
    return [item for _, item in zip(range(n), items)]

# %% break_in_time
def take(items, n):
    found = []
    if n > 0:
        for item in items:
            found.append(item)
            if len(found) == n:
                break
    return found
