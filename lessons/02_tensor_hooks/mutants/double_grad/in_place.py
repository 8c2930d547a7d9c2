# misconception: in place, returns nothing | hint: edits_in_place
def func(grad):
    grad.mul_(2)
