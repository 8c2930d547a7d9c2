"""The pool of workers on a cluster of machines."""
