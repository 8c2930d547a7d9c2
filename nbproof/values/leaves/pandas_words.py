"""How pandas is spoken of; like :mod:`nbproof.values.leaves.torch_words`."""

from __future__ import annotations

from nbproof.values.leaf import Words

__all__ = ["WORDS"]

WORDS = Words(types=("DataFrame", "Series", "Index"), aliases=("pd", "pandas"), called=("pandas",))
