# %% a_list
# misconception: __iter__ may return anything that can be walked through | hint: countdown_no_iterator
class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        return list(range(self.start, 0, -1))

# %% its_own_iterator
# misconception: the countdown itself is the iterator | hint: countdown_used_up
# breaks: walked through again afterwards
class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        return self

    def __next__(self):
        if self.start < 1:
            raise StopIteration
        self.start -= 1
        return self.start + 1

# %% counts_start_down
# misconception: counts in the attribute itself | hint: countdown_used_up
class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        while self.start > 0:
            yield self.start
            self.start -= 1

# %% made_in_init
# misconception: one iterator, made once for all loops | hint: countdown_used_up
class Countdown:
    def __init__(self, start):
        self.numbers = iter(range(start, 0, -1))

    def __iter__(self):
        return self.numbers

# %% set_back
# misconception: sets the one needle back at the beginning of each loop | hint: countdown_one_needle
# breaks: by two loops at the same time
class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        self.number = self.start
        return self

    def __next__(self):
        if self.number < 1:
            raise StopIteration
        self.number -= 1
        return self.number + 1

# %% down_to_zero
# misconception: 0 belongs to it | hint: countdown_end
class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        return iter(range(self.start, -1, -1))

# %% down_to_two
# misconception: the end of a range belongs to it | hint: countdown_ends_early
class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        return iter(range(self.start, 1, -1))

# %% upwards
# misconception: counts up | hint: wrong_order
# breaks: gives 3, 2, 1
class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        return iter(range(1, self.start + 1))

# %% at_least_once
# misconception: looks for the end after it has given a number | hint: countdown_of_nothing
# breaks: `Countdown(0)` gives nothing
class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        number = self.start
        while True:
            yield number
            number -= 1
            if number == 0:
                return

# %% prints
# misconception: shows the numbers | hint: returns_nothing
# breaks: Write the class `Countdown`.
class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        for number in range(self.start, 0, -1):
            print(number)
