# %% slice
# misconception: an iterator has square brackets | hint: needs_a_list
def take(items, n):
    return items[:n]

# %% break_too_late
# misconception: asks for one thing more before it stops | hint: take_one_too_many
# breaks: it takes no more than that
def take(items, n):
    found = []
    for item in items:
        if len(found) == n:
            break
        found.append(item)
    return found

# %% zip_the_other_way
# misconception: zip asks the items first, and throws one away | hint: take_one_too_many
def take(items, n):
    return [item for item, _ in zip(items, range(n))]

# %% whole_list
# misconception: makes a list of everything first | hint: reads_everything
# breaks: what comes afterwards is still there
def take(items, n):
    return list(items)[:n]

# %% no_end
# misconception: next always has something to give | hint: take_asks_an_empty_source
# breaks: or of all of them if there are fewer
def take(items, n):
    source = iter(items)
    found = []
    for _ in range(n):
        found.append(next(source))
    return found

# %% filled_up
# misconception: fills up with None where nothing is left | hint: take_asks_an_empty_source
def take(items, n):
    source = iter(items)
    return [next(source, None) for _ in range(n)]

# %% next_of_a_list
# misconception: calls next on a list | hint: next_of_an_iterable
# breaks: may be a list or an iterator
def take(items, n):
    return [next(items) for _ in range(n)]

# %% one_less
# misconception: counts from 1 | hint: take_off_by_one
# breaks: a list of the first `n` things
def take(items, n):
    return list(islice(items, n - 1))

# %% return_in_loop
# misconception: returns in the first round | hint: take_returns_too_early
def take(items, n):
    found = []
    for item in islice(items, n):
        found.append(item)
        return found

# %% prints
# misconception: shows the result and does not return it | hint: returns_nothing
# breaks: it returns a list
def take(items, n):
    print(list(islice(items, n)))

# %% at_least_one
# misconception: asks whether there are enough only after it has taken one | hint: take_at_least_one
def take(items, n):
    found = []
    for item in items:
        found.append(item)
        if len(found) >= n:
            break
    return found
