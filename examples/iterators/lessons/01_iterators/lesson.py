# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Iterators: one thing at a time
#
# A log file of 40 GB, the messages of a chat that is still going on, all prime numbers: none of them fits into a list, and a
# `for` loop walks through each of them without a murmur. How does it do that? It never asks for everything. It asks for the next
# thing.
#
# - **You will do** this: take things out of an iterator by hand, build a class that a `for` loop can walk through, and compare
#   neighbours in a stream that nobody can index.
# - **You will learn** what `iter` and `next` do, why an iterator is used up, and why a list is not.
# - **You need** loops, lists, functions, and classes with an `__init__`.
# - **Time** <!-- time and points -->.
# - **Out of scope** `yield`.
#
# Write your code where a cell says `# TODO`, run the cell, and run the one below it. Its panel says line by line what was
# checked. At the first ✗, run `hint()` in any cell: you get a question; run it again for the idea, and again for where to read.
# `progress()` shows what you have solved; `solution("take")` shows other right answers, once you have found one.
#
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from itertools import count, islice

from nbproof import hint, progress, solution

# %% [markdown]
# ## What a `for` loop does
#
# Two built-in functions are all there is to it. `iter` asks a thing for an *iterator*, and `next` asks the iterator for the next
# value. When there is none left, the iterator raises `StopIteration`, and the loop ends.

# %%
playlist = ["prelude", "waltz", "tango"]

needle = iter(playlist)
print(next(needle))
print(next(needle))
print(next(needle))
try:
    next(needle)
except StopIteration:
    print("the record is over")

# %% [markdown]
# Think of a record player. The list is the record: it holds all the songs, and you can put it on as often as you like. The
# iterator is the needle: it knows one thing, where it is. Two needles on one record do not disturb each other.

# %%
first, second = iter(playlist), iter(playlist)
print(next(first), next(first), "|", next(second))

# %% [markdown]
# ## The needle does not go back
#
# An iterator has no first item that you could return to, no length, and no square brackets. What was taken is gone for everybody
# who holds that same iterator. That includes you, two lines further down:

# %%
needle = iter(playlist)
print("first walk: ", list(needle))
print("second walk:", list(needle))

try:
    needle[0]
except TypeError as error:
    print(error)

# %% [markdown]
# So a polite function takes from an iterator only what it needs. Whoever called it may want the rest.
#
# ### Exercise: Take a few
#
# easy · 10 min
#
# Write `take(items, n)`: it returns a list of the first `n` things of `items`, or of all of them if there are fewer. `items` may be
# a list or an iterator. From an iterator it takes no more than that: what comes afterwards is still there for the caller. Stuck
# before the first line? Run `hint("take")`.

# %% nbgrader={"grade": false, "grade_id": "take", "locked": false, "schema_version": 3, "solution": true, "task": false}
def take(items, n):
    # TODO: the first `n` things, and not one more.
    ### BEGIN SOLUTION
    found = []
    source = iter(items)
    while len(found) < n:
        try:
            found.append(next(source))
        except StopIteration:
            break
    return found
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_take", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from nbproof import check
check("take")

# %% [markdown]
# With it, even an endless source is harmless. `count(1)` counts 1, 2, 3, and never stops; the `islice` of the standard library is
# the `take` that you have just written.

# %%
numbers = count(1)
print(list(islice(numbers, 5)))
print(list(islice(numbers, 5)))

# %% [markdown]
# ## Things that a loop can walk through
#
# A thing that gives you an iterator whenever you ask is called *iterable*. Lists, strings, dictionaries and open files are. Your
# own classes can be, too: write a method `__iter__` that returns an iterator. The shortest way is to borrow one:

# %%
class Shelf:
    """Books, in the order in which they stand."""

    def __init__(self, *books):
        self.books = books

    def __iter__(self):
        return iter(self.books)


shelf = Shelf("Emma", "Dracula")
for one in shelf:
    for other in shelf:
        print(one, "beside", other)

# %% [markdown]
# Look at the two loops, one within the other, over the same shelf. Each of them called `__iter__`, and each of them got a needle of
# its own. If both had shared one, the inner loop would have eaten the books of the outer one.
#
# ### Exercise: A countdown
#
# medium · 15 min
#
# Write the class `Countdown`. `Countdown(3)` can be walked through by a `for` loop and gives 3, 2, 1. It can be walked through again
# afterwards, and by two loops at the same time. `Countdown(0)` gives nothing.

# %% nbgrader={"grade": false, "grade_id": "countdown", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Countdown:
    """From `start` down to 1."""

    def __init__(self, start):
        self.start = start

    def __iter__(self):
        # TODO: an iterator over start, start - 1, ..., 1: a new one for each loop.
        ### BEGIN SOLUTION
        return iter(range(self.start, 0, -1))
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_countdown", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from nbproof import check
check("countdown")

# %% [markdown]
# ## Looking at two things at once
#
# A thermometer sends a value every minute. You want to know by how much it rises from one minute to the next, so you need each
# value together with its neighbour. With a list that is `zip(values, values[1:])`. A stream has no `[1:]`. But you may keep the
# last thing that you saw: that is one variable, however long the stream is.
#
# ### Exercise: Neighbours
#
# medium · 10 min
#
# Write `neighbours(items)`: it returns a list of pairs, each thing of `items` with the one that follows it. `neighbours("abc")` is
# `[("a", "b"), ("b", "c")]`. `items` may be an iterator. Fewer than two things have no neighbours: the list is empty.

# %% nbgrader={"grade": false, "grade_id": "neighbours", "locked": false, "schema_version": 3, "solution": true, "task": false}
def neighbours(items):
    # TODO: each thing with the one that follows it.
    ### BEGIN SOLUTION
    pairs = []
    last = None
    for number, item in enumerate(items):
        if number:
            pairs.append((last, item))
        last = item
    return pairs
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_neighbours", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from nbproof import check
check("neighbours")

# %% [markdown]
# ### In your own words: The empty second walk
#
# 10 min
#
# A colleague reads a file with `lines = open("log.txt")`. First she counts the lines with `sum(1 for line in lines)`, and gets 812. Then
# she prints each of them with `for line in lines: print(line)`, and nothing is printed; there is no error either. If `lines` were a
# list, both would work. Explain to her what has happened, and name one way out.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_second_walk", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# An open file is an iterator: it is its own needle. Counting moved it to the end, and nothing moves it back, so the second loop is
# told at once that there is nothing left, which is no error. A list hands out a new iterator to each loop. She can read the lines
# into a list first, open the file again, or count and print in one walk.
#
# ### BEGIN MARK SCHEME
# - 2 points: says that the first walk has used the iterator up, **and** names a way out that works.
# - 1 point: one of the two.
# - Common wrong explanations, 0 points for that part: the file is empty or closed; `sum` changes or deletes the lines; printing
#   needs `next`.
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# ## What to remember
#
# - `iter(thing)` gives an iterator, `next(iterator)` the next value, and `StopIteration` says that there is none.
# - An iterator walks once and forward. A list gives out as many iterators as you ask for.
# - Take only what you need. Somebody else may want the rest.
