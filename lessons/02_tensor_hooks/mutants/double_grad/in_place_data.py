# misconception: in place by way of .data | hint: edits_in_place
def func(grad):
    grad.data.mul_(2)
