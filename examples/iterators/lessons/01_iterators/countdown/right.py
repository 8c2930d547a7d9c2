# %% generator
class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        number = self.start
        while number > 0:
            yield number
            number -= 1

# %% iterator_of_its_own
class Needle:
    def __init__(self, number):
        self.number = number

    def __iter__(self):
        return self

    def __next__(self):
        if self.number < 1:
            raise StopIteration
        self.number -= 1
        return self.number + 1


class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        return Needle(self.start)

# %% reversed_range
class Countdown:
    def __init__(self, start):
        self.numbers = range(1, start + 1)

    def __iter__(self):
        return reversed(self.numbers)

# %% borrowed_from_a_list
class Countdown:
    def __init__(self, start):
        self.numbers = [start - passed for passed in range(start)]

    def __iter__(self):
        return iter(self.numbers)
