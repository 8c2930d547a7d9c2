# nothing to break: Write `steer(block, direction)`.

# %% tensor_for_dict
# misconception: returns the tensor instead of the dict | hint: steer_tensor_for_dict
# breaks: everything else in the dict stays
def steer(block, direction):
    return block.register_forward_hook(lambda module, args, output: output["hidden"] + direction)

# %% dict_as_tensor
# misconception: takes the output for a tensor | hint: steer_dict_is_no_tensor
def steer(block, direction):
    return block.register_forward_hook(lambda module, args, output: output + direction)

# %% forgets_return
# misconception: builds the new dict and does not return it | hint: steer_no_effect | canary
# breaks: After the call, the entry `"hidden"` of the block's output is larger by `direction`
# edits: copied_then_changed
-        return steered

# %% other_entries_lost
# misconception: returns a dict of one entry | hint: steer_entries_lost
# breaks: everything else in the dict stays
def steer(block, direction):
    return block.register_forward_hook(lambda module, args, output: {"hidden": output["hidden"] + direction})

# %% writes_into_the_tensor
# misconception: adds in place | hint: steer_in_place
# breaks: Outputs that others have kept
# edits: copied_then_changed
-        steered = dict(output)
-        steered["hidden"] = output["hidden"] + direction
-        return steered
+        output["hidden"] += direction

# %% writes_into_the_dict
# misconception: puts the new tensor into the old dict | hint: steer_in_place
# breaks: Outputs that others have kept
# edits: writes_into_the_tensor
-        output["hidden"] += direction
+        output["hidden"] = output["hidden"] + direction
+        return output

# %% every_entry
# misconception: adds the direction to every entry | hint: steer_every_entry
# breaks: everything else in the dict stays
# edits: entry_by_entry
-        return {name: value + direction if name == "hidden" else value for name, value in output.items()}
+        return {name: value + direction for name, value in output.items()}

# %% steers_the_input
# misconception: a pre-hook that adds to what goes in | hint: input_or_output
# breaks: the block's output is larger by `direction`
def steer(block, direction):
    return block.register_forward_pre_hook(lambda module, args: (args[0] + direction,))

# %% input_for_output
# misconception: adds to the block's input and puts that out | hint: steer_passed_through
# breaks: the block's output is larger by `direction`
# edits: copied_then_changed
-        steered["hidden"] = output["hidden"] + direction
+        steered["hidden"] = args[0] + direction

# %% direction_for_hidden
# misconception: puts the direction out instead of adding it | hint: steer_replaces
# breaks: the block's output is larger by `direction`
# edits: copied_then_changed
-        steered["hidden"] = output["hidden"] + direction
+        steered["hidden"] = direction.expand_as(output["hidden"])

# %% subtracts
# misconception: moves the other way | hint: steer_otherwise
# edits: copied_then_changed
-        steered["hidden"] = output["hidden"] + direction
+        steered["hidden"] = output["hidden"] - direction

# %% last_token_only
# misconception: steers the last token only | hint: steer_one_place
# edits: copied_then_changed
-        steered["hidden"] = output["hidden"] + direction
+        steered["hidden"] = output["hidden"].clone()
+        steered["hidden"][..., -1, :] += direction

# %% no_handle
# misconception: returns nothing | hint: returns_nothing
# breaks: `steer` returns the handle
def steer(block, direction):
    block.register_forward_hook(lambda module, args, output: output | {"hidden": output["hidden"] + direction})

# %% returns_the_block
# misconception: returns the block | hint: steer_no_handle
# edits: no_handle
+    return block

# %% gone_at_once
# misconception: the hook comes off before the block has run | hint: steer_no_effect
# breaks: After the call, the entry `"hidden"` of the block's output is larger
# edits: entry_by_entry
-    handle = block.register_forward_hook(hook)
-    return handle
+    with block.register_forward_hook(hook) as handle:
+        return handle

# %% only_once
# misconception: the hook removes itself | hint: runs_only_once
# breaks: After the call, the entry `"hidden"` of the block's output is larger
# edits: entry_by_entry
-        return {name: value + direction if name == "hidden" else value for name, value in output.items()}
+        handle.remove()
+        steered = dict(output)
+        steered["hidden"] = output["hidden"] + direction
+        return steered

# %% one_direction_for_all
# misconception: the direction is a variable of the notebook | hint: shared_state
# edits: copied_then_changed
-def steer(block, direction):
+def steer(block, given):
+    global direction
+    direction = given
+

# %% another_forward
# misconception: replaces forward, and returns the handle of a hook that does nothing | hint: steer_in_place
# breaks: once the hook is removed, the block works as before
def steer(block, direction):
    forward = block.forward

    def steered(x):
        output = forward(x)
        return {**output, "hidden": output["hidden"] + direction}

    block.forward = steered
    return block.register_forward_hook(lambda module, args, output: None)

# %% detached
# misconception: adds to a detached copy of the output | hint: output_cut_off
# breaks: gradients still flow through the block
# edits: copied_then_changed
-        steered["hidden"] = output["hidden"] + direction
+        steered["hidden"] = output["hidden"].detach() + direction
