# %% accumulate
from itertools import accumulate


def running_total(numbers):
    return accumulate(numbers)

# %% yield_from
from itertools import accumulate


def running_total(numbers):
    yield from accumulate(numbers)

# %% next_by_hand
def running_total(numbers):
    source, total = iter(numbers), 0
    while True:
        try:
            total = total + next(source)
        except StopIteration:
            return
        yield total

# %% keeps_the_numbers
def running_total(numbers):
    seen = []
    for number in numbers:
        seen.append(number)
        yield sum(seen)
