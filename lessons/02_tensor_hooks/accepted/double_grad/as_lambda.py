func = lambda grad: 2.0 * grad
