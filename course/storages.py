"""Which memory is freed when: each storage that is, or is not, leaves a trace in one number.

Whether something is still in memory, a process says about itself. So a check does not ask for a yes or no: like
:mod:`course.traces` it has a number made that follows from the seed, from what is watched, and from what became of it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from nbproof.checks.case import Case

__all__ = ["Storages", "of_a_storage"]

_PRIME = 2_147_483_647

# Taken now, before any learner's code runs: a method of torch that is asked for later could be the learner's.
_STORAGE_OF: Callable[[torch.Tensor], torch.UntypedStorage] = torch._C.TensorBase.untyped_storage
_WEAK_REF: Callable[[torch.UntypedStorage], int] = torch._C.StorageBase.__dict__["_weak_ref"]
_EXPIRED: Callable[[int], bool] = torch.UntypedStorage._expired  # type: ignore[assignment]  # torch declares it otherwise
_FREE: Callable[[int], None] = torch.UntypedStorage._free_weak_ref


class Storages:
    """Memory that is watched, and not kept: which of it is still there shows in one number, another for each moment."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._watched: list[tuple[str, int]] = []

    def watch(self, tensor: torch.Tensor, place: str) -> None:
        """Watch the storage of a tensor; ``place`` says which one it is. One that comes twice leaves two traces."""
        self._watched.append((place, _WEAK_REF(_STORAGE_OF(tensor))))

    def left(self, moment: str) -> int:
        """The number of this moment: :func:`storages_left`, of what is there and of what is freed."""
        number = self._case.integer(f"trace of memory {moment}", 1, _PRIME)
        for place, reference in self._watched:
            number += of_a_storage(self._case, place, moment, _EXPIRED(reference))
        return number % _PRIME

    def __del__(self) -> None:
        for _, reference in self._watched:
            _FREE(reference)


def of_a_storage(case: Case, place: str, moment: str, freed: bool) -> int:
    return case.integer(f"trace of memory of {place} {'freed' if freed else 'there'} {moment}", 1, _PRIME)
