# %% call_without_yield
# misconception: calling a generator runs it | hint: flatten_call_without_yield
def flatten(nested):
    for item in nested:
        if isinstance(item, list):
            flatten(item)
        else:
            yield item

# %% yields_the_generator
# misconception: yield of a generator hands out its values | hint: flatten_yields_a_generator
def flatten(nested):
    for item in nested:
        if isinstance(item, list):
            yield flatten(item)
        else:
            yield item

# %% one_level
# misconception: a box holds no boxes | hint: flatten_one_level
# breaks: whose things may be lists, and so on, to any depth
def flatten(nested):
    for item in nested:
        if isinstance(item, list):
            yield from item
        else:
            yield item

# %% tuples_too
# misconception: a tuple is a list as well | hint: flatten_opens_everything
# breaks: a text or a tuple is a thing like any other
def flatten(nested):
    for item in nested:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item

# %% whatever_has_a_loop
# misconception: opens whatever can be walked through, texts included | hint: flatten_opens_texts
def flatten(nested):
    for item in nested:
        if hasattr(item, "__iter__"):
            yield from flatten(item)
        else:
            yield item

# %% chained
# misconception: joins one level, and takes texts apart | hint: flatten_opens_texts
from itertools import chain


def flatten(nested):
    yield from chain.from_iterable(nested)

# %% not_opened
# misconception: hands the boxes out | hint: flatten_hands_out_boxes
# breaks: hands out all things that are no lists
def flatten(nested):
    for item in nested:
        yield item

# %% return_from_a_box
# misconception: takes one thing out of each box | hint: flatten_first_of_a_box
def flatten(nested):
    for item in nested:
        if isinstance(item, list):
            yield next(flatten(item))
        else:
            yield item

# %% prints
# misconception: shows the things | hint: returns_nothing
# breaks: Write the generator
def flatten(nested):
    for item in nested:
        if isinstance(item, list):
            flatten(item)
        else:
            print(item)
