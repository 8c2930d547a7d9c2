def reverse_gradient(tensor):
    # value: 2t - t, gradient: -1
    return 2 * tensor.detach() - tensor
