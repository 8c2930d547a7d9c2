# %% return_in_loop
# misconception: return hands out a value and goes on | hint: returns_instead_of_yield
def running_total(numbers):
    total = 0
    for number in numbers:
        total += number
        return total

# %% a_list
# misconception: everything is computed, then handed out | hint: reads_everything
# breaks: it takes no number more than that sum needs
def running_total(numbers):
    totals, total = [], 0
    for number in numbers:
        total += number
        totals.append(total)
    return totals

# %% list_first
# misconception: the source has to be a list | hint: reads_everything
def running_total(numbers):
    numbers = list(numbers)
    for at in range(len(numbers)):
        yield sum(numbers[: at + 1])

# %% zero_in_the_loop
# misconception: begins at zero in each round | hint: total_forgets
def running_total(numbers):
    for number in numbers:
        total = 0
        total += number
        yield total

# %% yields_at_the_end
# misconception: one total, when everything is there | hint: total_only_once
# breaks: After each number it hands out the sum
def running_total(numbers):
    total = 0
    for number in numbers:
        total += number
    yield total

# %% yields_first
# misconception: hands out before it adds | hint: total_before_adding
def running_total(numbers):
    total = 0
    for number in numbers:
        yield total
        total += number

# %% default_argument
# misconception: a default is made anew for each call | hint: total_kept_between_calls
# breaks: each call begins at zero
def running_total(numbers, total=[0]):
    for number in numbers:
        total[0] += number
        yield total[0]

# %% prints
# misconception: shows the totals | hint: returns_nothing
# breaks: Write the generator
def running_total(numbers):
    total = 0
    for number in numbers:
        total += number
        print(total)

# %% if_total
# misconception: takes a sum of zero for no sum | hint: total_skips_zero
def running_total(numbers):
    total = 0
    for number in numbers:
        total += number
        if total:
            yield total
