# %% slices
# misconception: whatever comes is a list | hint: chunks_needs_a_list
# breaks: `items` may be an iterator
def chunks(items, size):
    for at in range(0, len(items), size):
        yield items[at : at + size]

# %% list_first
# misconception: makes a list of everything first | hint: reads_everything
def chunks(items, size):
    items = list(items)
    for at in range(0, len(items), size):
        yield items[at : at + size]

# %% drops_the_last
# misconception: what does not fill a list is not handed out | hint: chunks_drops_the_last
# breaks: the last one is shorter if not enough are left
def chunks(items, size):
    found = []
    for item in items:
        found.append(item)
        if len(found) == size:
            yield found
            found = []

# %% one_list
# misconception: clears the list that it has handed out | hint: chunks_one_list
def chunks(items, size):
    found = []
    for item in items:
        found.append(item)
        if len(found) == size:
            yield found
            found.clear()
    if found:
        yield found

# %% empty_last
# misconception: there is always something left | hint: chunks_empty_at_the_end
# breaks: no list is empty
def chunks(items, size):
    found = []
    for item in items:
        found.append(item)
        if len(found) == size:
            yield found
            found = []
    yield found

# %% one_ahead
# misconception: hands a list out when the next thing does not fit any more | hint: chunks_takes_ahead
# breaks: no more is taken from it than what is in that list
def chunks(items, size):
    found = []
    for item in items:
        if len(found) == size:
            yield found
            found = []
        found.append(item)
    if found:
        yield found

# %% filled_up
# misconception: all lists are of one length | hint: chunks_filled_up
def chunks(items, size):
    source = iter(items)
    for first in source:
        yield [first, *(next(source, None) for _ in range(size - 1))]

# %% one_too_many
# misconception: a list is full when it holds more than `size` things | hint: chunks_one_too_many
def chunks(items, size):
    found = []
    for item in items:
        found.append(item)
        if len(found) > size:
            yield found
            found = []
    if found:
        yield found

# %% windows
# misconception: each thing begins a list | hint: chunks_overlap
def chunks(items, size):
    items = list(items)
    for at in range(len(items)):
        yield items[at : at + size]

# %% first_only
# misconception: return hands out a value and goes on | hint: returns_instead_of_yield
# breaks: Write the generator
def chunks(items, size):
    found = []
    for item in items:
        found.append(item)
        if len(found) == size:
            return found
