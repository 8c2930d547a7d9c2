# %% named_callback
def bf16_average(wire, bucket):
    gradients = bucket.buffer()
    compressed = gradients.to(torch.bfloat16)
    wire.bytes = wire.bytes + compressed.nbytes

    def decompress(future):
        total = future.value()
        return (total / wire.size).to(gradients.dtype)

    return wire.sum(compressed).then(decompress)

# %% two_bytes_each
def bf16_average(wire, bucket):
    buffer = bucket.buffer()
    wire.bytes += 2 * buffer.numel()
    future = wire.sum(buffer.type(torch.bfloat16))
    return future.then(lambda future: future.value().type(buffer.dtype).div(wire.size))

# %% copies_into_the_buffer
def bf16_average(wire, bucket):
    buffer = bucket.buffer()
    half = buffer.to(dtype=torch.bfloat16)

    def back(done):
        wire.bytes += half.element_size() * half.nelement()  # what was sent, once the sum has come
        buffer.copy_(done.wait())
        return buffer.div_(wire.size)

    return wire.sum(half).then(back)

# %% two_steps
def bf16_average(wire, bucket):
    out = torch.empty(len(bucket.buffer()), dtype=torch.bfloat16)
    dtype = bucket.buffer().dtype
    out.copy_(bucket.buffer())
    wire.bytes += len(out) * out.itemsize
    wide = wire.sum(out).then(lambda future: future.value().to(dtype))
    return wide.then(lambda future: future.value() * (1 / wire.size))

# %% divided_before_the_sum
def bf16_average(wire, bucket):
    """As PyTorch's own bf16_compress_hook does it."""
    gradients = bucket.buffer()
    part = gradients.to(torch.bfloat16).div_(wire.size)
    wire.bytes += part.numel() * part.element_size()
    return wire.sum(part).then(lambda done: done.value().to(gradients.dtype))
