"""What tests of values share: the course's leaf types are known, whichever test runs first, or alone."""

from __future__ import annotations

import pytest

from nbproof.values.leaf import leaves_of
from tests import COURSE


@pytest.fixture(scope="session", autouse=True)
def leaf_types() -> None:
    """Values know a tensor once a course has named its library."""
    leaves_of(COURSE)
