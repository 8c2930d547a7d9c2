"""The cheat that knows no answer earns nothing: in every TODO cell, in three forms, at each way of grading.

All of it at night. By day the arsenal has one form of it, in one cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from nbproof.cells import BEGIN_HIDDEN
from nbproof.lesson.from_notebook import name_of, text_of
from tests.attacks.assault import REPO, Outcome
from tests.attacks.conftest import WAYS, graded
from tests.attacks.forger import FORMS, forger

pytestmark = pytest.mark.nightly

LESSONS = sorted(path.name for path in (REPO / "source").iterdir())


ALL = [forger(form, lesson) for form in FORMS for lesson in LESSONS]
CLASSES = [pytest.param((way, ALL), id=f"all {name}") for name, way in WAYS.items()]


@pytest.fixture(scope="module", params=CLASSES)
def outcome(request: pytest.FixtureRequest) -> Iterator[Outcome]:
    way, attacks = request.param
    yield from graded(attacks, **way)


def constants(lesson: str) -> set[str]:
    """The test cells whose wanted value whoever runs the given code sees."""
    source = json.loads((REPO / "source" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    hidden = {name_of(cell): text_of(cell).partition(BEGIN_HIDDEN)[2] for cell in source["cells"]}
    return {name for name, text in hidden.items() if re.search(r"^    constant = ", text, re.MULTILINE)}


def test_a_text_that_knows_no_answer_earns_nothing(outcome: Outcome) -> None:
    earned = {}
    for attack in outcome.attacks:
        exempt = constants(attack.lesson)
        for exercise in outcome.verdicts[attack.name]["exercises"]:
            for test, points in exercise["points"].items():
                if points and test not in exempt:
                    earned[attack.name, test] = points
    assert earned == {}


def test_it_was_asked_everything(outcome: Outcome) -> None:
    """It did not end early: then it would earn nothing for another reason."""
    tried = {
        (attack.name, exercise["id"])
        for attack in outcome.attacks
        for exercise in outcome.verdicts[attack.name]["exercises"]
        if exercise["status"] == "failed"
    }
    assert len(tried) >= len([one for one in outcome.attacks if "disk" not in one.name]) * 4
