"""A simulated class hands in what learners hand in: released notebooks with TODO cells filled."""

from __future__ import annotations

from pathlib import Path

import nbformat

from nbproof.authoring.lesson import read_lesson
from nbproof.authoring.simulate import LEARNERS, as_handed_in, hand_in, simulate_class

SLUG = "00_tiny"


def answers(course: Path) -> dict[str, str]:
    """Learner -> what they handed in for the only exercise."""
    return {
        path.parent.parent.name: nbformat.read(path, as_version=4).cells[-2].source
        for path in (course / "submitted").glob("*/*/*.ipynb")
    }


def test_everybody_hands_in_and_the_same_seed_gives_the_same_class(course: Path) -> None:
    written = simulate_class(course, [SLUG])
    first = answers(course)
    assert written == [course / "submitted" / one.name / SLUG / f"{SLUG}.ipynb" for one in LEARNERS]
    simulate_class(course, [SLUG])
    assert answers(course) == first
    seen = set()
    for seed in range(1, 6):
        simulate_class(course, [SLUG], seed)
        seen.add(tuple(sorted(answers(course).items())))
    assert len(seen) > 1


def test_skill_and_effort_decide_what_is_handed_in(course: Path) -> None:
    (exercise,) = read_lesson(course / "lessons" / SLUG).exercises
    roles = {as_handed_in(one): one.role for one in exercise.candidates}
    assert not any("misconception:" in text for text in roles)
    for seed in range(5):
        simulate_class(course, [SLUG], seed)
        handed_in = {learner: roles[source] for learner, source in answers(course).items()}
        assert handed_in["ada"] in ("reference", "accepted")
        assert handed_in["goro"] == "mutant"
        assert handed_in["hanna"] == "stub"


def test_only_the_named_cells_are_filled(course: Path) -> None:
    release = course / "release" / SLUG / f"{SLUG}.ipynb"
    before, after = nbformat.read(release, as_version=4), hand_in(release, {"catch": "mine", "unknown": "lost"})
    changed = [(one.source, other.source) for one, other in zip(before.cells, after.cells, strict=True) if one != other]
    assert changed == [(before.cells[-2].source, "mine")]
