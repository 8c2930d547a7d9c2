# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Generators: a function that pauses
#
# In the last lesson you kept a needle in your own hands: where am I, what came last, is there more? It works, and it is a lot of
# bookkeeping. A generator is a function that does the bookkeeping for you. It runs until it has a value, hands it out, and falls
# asleep in the middle of its loop, with all its variables as they are. When somebody asks for the next value, it wakes up on the
# same line.
#
# - **You will do** this: add up a stream that never ends, cut it into slices, and empty boxes within boxes.
# - **You will learn** what `yield` does, when the body of a generator runs, and what `yield from` is for.
# - **You need** lesson 01.
# - **Time** <!-- time and points -->.
# - **Out of scope** `send`, `async`, and generator expressions with more than one `for`.
#
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from itertools import count, islice

from nbproof import hint, progress, solution

# %% [markdown]
# ## `yield` hands out, and waits
#
# This is a function with `yield` in it. Read what it prints, and when.


# %%
def waiter():
    print("  (goes to the kitchen)")
    yield "soup"
    print("  (goes again)")
    yield "cake"
    print("  (goes home)")


dinner = waiter()
print("the waiter is there, and has not moved")
print("here comes the", next(dinner))
print("here comes the", next(dinner))
print("and then:", next(dinner, "nothing"))

# %% [markdown]
# Three things are worth a second look.
#
# - Calling `waiter()` ran none of its lines. It made an iterator, and nothing else.
# - Each `next` ran the body from one `yield` to the next one. Local variables stay as they are while it sleeps.
# - When the body came to its end, the iterator was used up.
#
# A generator may therefore read from a source that never ends: it only ever takes what is needed for the next value.


# %%
def doubled(numbers):
    for number in numbers:
        yield 2 * number


print(list(islice(doubled(count(1)), 5)))

# %% [markdown]
# ### Exercise: A running total
#
# easy · 10 min
#
# Write the generator `running_total(numbers)`. After each number it hands out the sum of all numbers so far: from 3, 1, 4 it makes
# 3, 4, 8. To hand out a sum it takes no number more than that sum needs, and each call begins at zero.

# %% nbgrader={"grade": false, "grade_id": "running_total", "locked": false, "schema_version": 3, "solution": true, "task": false}
def running_total(numbers):
    # TODO: the sum so far, after each number.
    ### BEGIN SOLUTION
    total = 0
    for number in numbers:
        total += number
        yield total
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_running_total", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from nbproof import check
check("running_total")

# %% [markdown]
# ## What is handed out is out of your hands
#
# A generator that hands out lists has a trap of its own. It wakes up again and goes on with its variables. What it has handed out
# is still in somebody's hands, and if that is the same list, it changes there, too:


# %%
def growing():
    found = []
    for number in count(1):
        found.append(number)
        yield found


first, second, third = islice(growing(), 3)
print(first, second, third)

# %% [markdown]
# Three names, one list. Whoever hands something out, and goes on working, hands out something new each time.
#
# ### Exercise: Slices of a stream
#
# medium · 15 min
#
# Write the generator `chunks(items, size)`: it hands out lists of `size` things each, in their order; the last one is shorter if
# not enough are left, and no list is empty. `items` may be an iterator, and for a list no more is taken from it than what is in that list.

# %% nbgrader={"grade": false, "grade_id": "chunks", "locked": false, "schema_version": 3, "solution": true, "task": false}
def chunks(items, size):
    # TODO: lists of `size` things each.
    ### BEGIN SOLUTION
    source = iter(items)
    while found := list(islice(source, size)):
        yield found
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_chunks", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from nbproof import check
check("chunks")

# %% [markdown]
# ## A generator that asks another one
#
# Calling a generator runs nothing: you have seen it. That is also true if a generator calls another one, or itself. Somebody has to
# ask the inner one for its values, and pass each of them on. `yield from` does that:


# %%
def twice(dish):
    yield dish
    yield dish


def menu():
    yield "soup"
    twice("cake")              # makes a generator, which nobody asks for anything
    yield from twice("tea")    # passes on all that it hands out


print(list(menu()))

# %% [markdown]
# ### Exercise: Boxes in boxes
#
# hard · 15 min
#
# Write the generator `flatten(nested)`. `nested` is a list; some of its things are lists again, whose things may be lists, and so on,
# to any depth. `flatten` hands out all things that are no lists, one after the other: `flatten([1, [2, [3]]])` hands out 1, 2, 3. Only
# lists are opened: a text or a tuple is a thing like any other.

# %% nbgrader={"grade": false, "grade_id": "flatten", "locked": false, "schema_version": 3, "solution": true, "task": false}
def flatten(nested):
    # TODO: all things that are no lists, at any depth.
    ### BEGIN SOLUTION
    for item in nested:
        if isinstance(item, list):
            yield from flatten(item)
        else:
            yield item
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_flatten", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from nbproof import check
check("flatten")

# %% [markdown]
# ## What to remember
#
# - A call of a generator runs none of its lines. `next` runs them, from `yield` to `yield`.
# - A generator takes from its source when it is asked, so it can read what never ends.
# - Hand out something new each time; what was handed out belongs to somebody else.
# - `yield from` passes on what another generator hands out. Calling it is not enough.
