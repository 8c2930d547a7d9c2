# nothing to break: Write `bf16_average(wire, bucket)`, a communication hook.
# nothing to break: `bucket.buffer()` is a flat tensor of gradients.

# %% not_compressed
# misconception: sends the buffer as it is | hint: comm_not_compressed
# breaks: Send it in bfloat16
# edits: two_bytes_each
-    future = wire.sum(buffer.type(torch.bfloat16))
+    future = wire.sum(buffer)

# %% cast_there_and_back
# misconception: rounds to bfloat16, and sends float32 all the same | hint: comm_not_compressed
# edits: two_bytes_each
-    future = wire.sum(buffer.type(torch.bfloat16))
+    future = wire.sum(buffer.type(torch.bfloat16).type(buffer.dtype))

# %% float16
# misconception: takes half() for bfloat16 | hint: comm_float16
# edits: two_bytes_each
-    future = wire.sum(buffer.type(torch.bfloat16))
+    future = wire.sum(buffer.half())

# %% stays_bfloat16
# misconception: returns the average in bfloat16 | hint: comm_dtype
# breaks: in the buffer's dtype
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    return future.then(lambda future: future.value().div(wire.size))

# %% float32_always
# misconception: brings gradients of any dtype back as float32 | hint: comm_dtype
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    return future.then(lambda future: future.value().float().div(wire.size))

# %% sum_for_average
# misconception: the sum, not the average | hint: comm_sum
# breaks: Return a future of the average over the `wire.size` replicas
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    return future.then(lambda future: future.value().type(buffer.dtype))

# %% two_replicas
# misconception: always two replicas | hint: comm_fixed_size
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    return future.then(lambda future: future.value().type(buffer.dtype).div(2))

# %% divides_by_the_length
# misconception: the mean over the gradients, not over the replicas | hint: comm_mean_of_gradients
# edits: named_callback
-        return (total / wire.size).to(gradients.dtype)
+        return (total / len(total)).to(gradients.dtype)

# %% divides_twice
# misconception: divides before the sum and after it | hint: comm_divides_twice
# edits: named_callback
-    compressed = gradients.to(torch.bfloat16)
+    compressed = (gradients / wire.size).to(torch.bfloat16)

# %% counts_numbers
# misconception: counts numbers, not bytes | hint: comm_counts_numbers
# breaks: Add the number of bytes that you send to `wire.bytes`.
# edits: two_bytes_each
-    wire.bytes += 2 * buffer.numel()
+    wire.bytes += buffer.numel()

# %% counts_the_buffer
# misconception: counts the bytes of the buffer, not those that are sent | hint: comm_counts_buffer
# edits: two_bytes_each
-    wire.bytes += 2 * buffer.numel()
+    wire.bytes += buffer.nbytes

# %% replaces_the_count
# misconception: the count begins anew with each bucket | hint: comm_count_replaced
# edits: named_callback
-    wire.bytes = wire.bytes + compressed.nbytes
+    wire.bytes = compressed.nbytes

# %% counts_nothing
# misconception: counts into a name of its own | hint: comm_not_counted | canary
# edits: named_callback
-    wire.bytes = wire.bytes + compressed.nbytes
+    count = wire.bytes
+    count += compressed.nbytes

# %% waits
# misconception: waits for the sum | hint: comm_waits
# breaks: Do not wait: the sum comes after your hook has returned.
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    total = future.wait()
+    done = torch.futures.Future()
+    done.set_result(total.type(buffer.dtype).div(wire.size))
+    return done

# %% asks_for_the_value
# misconception: asks for the value at once | hint: comm_waits
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    return future.value().type(buffer.dtype).div(wire.size)

# %% future_for_tensor
# misconception: computes with the future as if it were the tensor | hint: comm_future_for_value
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    return future / wire.size

# %% callback_gets_a_tensor
# misconception: takes the callback's argument for the tensor | hint: comm_future_for_value
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    return future.then(lambda total: total.type(buffer.dtype).div(wire.size))

# %% returns_a_tensor
# misconception: returns a tensor | hint: comm_no_future
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    return buffer.div(wire.size)

# %% returns_nothing
# misconception: the callback is registered, and its future lost | hint: comm_no_future
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))

# %% future_of_the_sum
# misconception: returns the future of the sum, not that of what comes of it | hint: comm_dtype
# edits: returns_nothing
+    return future

# %% own_gradient
# misconception: averages what it has sent, not what has come | hint: comm_own_gradient
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    return future.then(lambda future: buffer.div(wire.size))

# %% list_of_one
# misconception: a list, as all_reduce has | hint: comm_list
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    return future.then(lambda future: [future.value().type(buffer.dtype).div(wire.size)])

# %% buffer_without_call
# misconception: buffer is a method | hint: comm_buffer_is_a_method
# edits: two_bytes_each
-    buffer = bucket.buffer()
+    buffer = bucket.buffer

# %% sent_twice
# misconception: asks for the sum twice, so all is sent twice | hint: comm_sent_twice
# edits: named_callback
+    wire.sum(compressed)
     return wire.sum(compressed).then(decompress)

# %% first_number
# misconception: takes the tensor out of a list once more, as Wire.sum did | hint: comm_list
# edits: named_callback
-        total = future.value()
+        total = future.value()[0]

# %% callback_returns_nothing
# misconception: the callback writes into the buffer, and returns nothing | hint: comm_callback_returns_nothing
def bf16_average(wire, bucket):
    buffer = bucket.buffer()
    small = buffer.to(torch.bfloat16)
    wire.bytes += small.nbytes

    def write_back(future):
        buffer.copy_(future.value().to(buffer.dtype) / wire.size)

    return wire.sum(small).then(write_back)

# %% future_of_a_future
# misconception: the callback returns a future in its turn | hint: comm_future_for_value
# edits: two_bytes_each
-    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))
+    return future.then(lambda future: future.then(lambda total: total.value().type(buffer.dtype).div(wire.size)))
