# %% the_answer_of_the_net
# misconception: returns what the net returns | hint: output_for_features | canary
# breaks: returns what the layer `net.pool` outputs on the way
# edits: nonlocal_name
-        net(pictures)
-    return output
+        return net(pictures)

# %% pool_on_the_pictures
# misconception: runs the layer on the pictures themselves | hint: layers_on_the_input
# breaks: it runs `net` on `pictures`
def pooled(net, pictures):
    return net.pool(pictures)

# %% what_goes_in
# misconception: keeps what goes into the layer | hint: input_or_output
# edits: handle_by_hand
-        kept["pool"] = output.detach()
+        kept["pool"] = args[0].detach()

# %% off_too_early
# misconception: takes the hook off before the run | hint: hook_never_ran
# edits: handle_by_hand
-    net(pictures)
     handle.remove()
+    net(pictures)

# %% hook_stays
# misconception: leaves the hook there | hint: feat_hook_left
# breaks: Afterwards your hooks are gone
# edits: off_too_early
-    handle = net.pool.register_forward_hook(keep)
-    handle.remove()
+    net.pool.register_forward_hook(keep)

# %% clears_hooks
# misconception: clears all hooks of the layer | hint: removes_other_hooks
# breaks: other people's hooks are still there
# edits: handle_by_hand
-    handle.remove()
+    net.pool._forward_hooks.clear()

# %% children_up_to_the_pool
# misconception: runs the children one after another, up to the layer | hint: children_in_a_row
def pooled(net, pictures):
    for child in net.children():
        pictures = child(pictures)
        if child is net.pool:
            return pictures

# %% in_eval_mode
# misconception: switches to eval mode | hint: changes_mode
# edits: handle_by_hand
-    net(pictures)
+    net.eval()(pictures)

# %% local_name
# misconception: gives a local name of the hook the output | hint: returns_nothing
# edits: nonlocal_name
-        nonlocal output

# %% in_a_list
# misconception: returns the list that the hook fills | hint: feat_in_a_list
# edits: try_finally
-    (output,) = kept
-    return output
+    return kept

# %% first_call_for_good
# misconception: one list for all calls, of which the first entry is returned | hint: stale_result
kept = []


def pooled(net, pictures):
    with net.pool.register_forward_hook(lambda module, args, output: kept.append(output)):
        net(pictures)
    return kept[0]

# %% two_arguments
# misconception: a forward hook with two arguments | hint: hook_arguments
# edits: handle_by_hand
-    def keep(module, args, output):
+    def keep(module, output):

# %% first_picture_only
# misconception: keeps the first sample of the batch | hint: one_sample
# edits: try_finally
-    return output
+    return output[0]

# %% flattened
# misconception: returns one row of numbers for each picture | hint: feat_flattened
# breaks: returns what the layer `net.pool` outputs on the way
# edits: try_finally
-    return output
+    return output.flatten(1)
