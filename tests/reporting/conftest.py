"""The small course of the grading tests, and what is asked of any page that a learner opens."""

from __future__ import annotations

from collections.abc import Callable

import bs4
import pytest

from tests.grading.conftest import course, engine, hand_in, registered_lesson, small_lesson  # noqa: F401
from tests.reporting.page_rules import what_runs


@pytest.fixture
def looked_at() -> Callable[[str], bs4.BeautifulSoup]:
    """Parse a page, after asking of it what is asked of any: nothing runs, everything has a name, ids are unique."""

    def parse(page: str) -> bs4.BeautifulSoup:
        assert what_runs(page) == []
        tree = bs4.BeautifulSoup(page, "html.parser")
        assert tree.html is not None and tree.html["lang"] == "en"
        assert len(tree.find_all("h1")) == 1
        assert all(image.get("alt") for image in tree.find_all("img"))
        ids = [tag["id"] for tag in tree.find_all(id=True)]
        assert len(ids) == len(set(ids))
        assert {str(link["href"])[1:] for link in tree.select('a[href^="#"]')} <= set(ids)
        assert {tag["aria-labelledby"] for tag in tree.find_all(attrs={"aria-labelledby": True})} <= set(ids)
        return tree

    return parse
