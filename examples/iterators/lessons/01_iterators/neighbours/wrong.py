# %% slice
# misconception: whatever comes has slices | hint: needs_a_list
# breaks: `items` may be an iterator
def neighbours(items):
    return list(zip(items, items[1:]))

# %% places
# misconception: whatever comes has a length | hint: needs_a_list
def neighbours(items):
    return [(items[at], items[at + 1]) for at in range(len(items) - 1)]

# %% in_twos
# misconception: zip of an iterator with itself gives neighbours | hint: neighbours_in_twos
def neighbours(items):
    source = iter(items)
    return list(zip(source, source))

# %% walked_twice
# misconception: two iterators of an iterator are two needles | hint: one_needle_for_two
def neighbours(items):
    first, second = iter(items), iter(items)
    next(second, None)
    return list(zip(first, second))

# %% no_first
# misconception: there is always a first thing | hint: neighbours_of_nothing
# breaks: Fewer than two things have no neighbours
def neighbours(items):
    source = iter(items)
    last, pairs = next(source), []
    for item in source:
        pairs.append((last, item))
        last = item
    return pairs

# %% starts_with_none
# misconception: the first thing has a neighbour before it | hint: neighbours_none
def neighbours(items):
    pairs, last = [], None
    for item in items:
        pairs.append((last, item))
        last = item
    return pairs

# %% if_last
# misconception: takes 0 and an empty text for nothing | hint: neighbours_asks_for_truth
def neighbours(items):
    pairs, last = [], None
    for item in items:
        if last:
            pairs.append((last, item))
        last = item
    return pairs

# %% first_kept
# misconception: never moves on | hint: neighbours_of_the_first
def neighbours(items):
    pairs, first = [], None
    for number, item in enumerate(items):
        if number == 0:
            first = item
        else:
            pairs.append((first, item))
    return pairs

# %% swapped
# misconception: the later one first | hint: neighbours_swapped
# breaks: each thing of `items` with the one that follows it
# breaks: `neighbours("abc")` is
def neighbours(items):
    items = list(items)
    return list(zip(items[1:], items))

# %% ring
# misconception: the last thing is followed by the first | hint: neighbours_in_a_ring
def neighbours(items):
    items = list(items)
    return [(items[at], items[(at + 1) % len(items)]) for at in range(len(items))]
