"""One module a library: what :mod:`nbproof.values.leaf` asks of it, imported only where a course names it; and their words."""
