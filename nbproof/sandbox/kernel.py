"""Functions of the C library that reach the kernel, for what Python's ``os`` does not have."""

from __future__ import annotations

import ctypes
import os

__all__ = ["call"]

_libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object, about: str = "") -> int:
    """What the function of this name returns. Raises OSError if the kernel refuses, which names ``about`` or the function.

    An ``int`` is passed as C's; whatever is wider has to say so (``ctypes.c_ulong``).
    """
    result = int(getattr(_libc, name)(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{about or name}: {os.strerror(number)}")
    return result
