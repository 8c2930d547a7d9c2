# %% handle_by_hand
def pooled(net, pictures):
    kept = {}

    def keep(module, args, output):
        kept["pool"] = output.detach()

    handle = net.pool.register_forward_hook(keep)
    net(pictures)
    handle.remove()
    return kept["pool"]

# %% try_finally
def pooled(net, pictures):
    kept = []
    handle = net.get_submodule("pool").register_forward_hook(lambda m, a, o: kept.append(o.clone()))
    try:
        with torch.no_grad():
            net(pictures)
    finally:
        handle.remove()
    (output,) = kept
    return output

# %% stops_there
class Enough(Exception):
    pass


def pooled(net, pictures):
    def stop(module, args, output):
        raise Enough(output)

    handle = net.pool.register_forward_hook(stop)
    try:
        net(pictures)
    except Enough as enough:
        return enough.args[0]
    finally:
        handle.remove()

# %% nonlocal_name
def pooled(net, pictures):
    output = None

    def hook(module, args, result):
        nonlocal output
        output = result

    with net.pool.register_forward_hook(hook):
        net(pictures)
    return output
