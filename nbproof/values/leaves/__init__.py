"""One module a library: what :mod:`nbproof.values.leaf` asks of it. Nobody imports them by name."""
