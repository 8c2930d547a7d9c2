"""The leaf types of the course: to load them is to import torch, which many a test does without."""

from __future__ import annotations

from nbproof.values.leaf import leaves_of
from tests import COURSE

LEAVES = leaves_of(COURSE)
