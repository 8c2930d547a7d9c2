"""Planted copies are found, and learners who were merely right in the same way are left in peace."""

from __future__ import annotations

import random
import time

import pytest

from nbproof.report.answers import anonymous, features, known_words, similarity, vectors
from nbproof.report.near_copies import SMALLEST_CLASS, Pair, grouped, near_copies
from nbproof.report.records import ClassRecords
from tests.report.made import STUBS, outcome, records, work

pytestmark = pytest.mark.slow
_NAMES = [f"step_{n}" for n in range(9)]
EXERCISES = [f"task_{n}" for n in range(9)]


def _solution(exercise: int, kind: int) -> str:
    """Kind 0 is what half of the class writes; every other one is another program."""
    chance = random.Random(f"{exercise}/{kind}")
    lines = [f"def {EXERCISES[exercise]}(model, x):", "    kept = []"]
    for _ in range(4):
        call = chance.choice(["add_", "mul_", "register_hook", "detach", "clone", "sum", "view", "unsqueeze", "clamp_"])
        other = chance.choice(["relu", "tanh", "sqrt", "exp", "log1p", "sign", "abs", "floor", "ceil"])
        lines.append(f"    kept.append(x.{call}({chance.randint(1, 99)}).{other}())")
    return "\n".join([*lines, "    return kept"])


def _renamed(text: str) -> str:
    """As somebody hides a copy: other names, other comments, other spaces, two lines in another order."""
    lines = text.replace("kept", "my_results").splitlines()
    lines[3], lines[4] = lines[4], lines[3]
    return "\n".join(line + "   # my own idea" if "append" in line else line for line in lines)


def _class(
    size: int, planted: int, seed: int, common: float = 0.5, exercises: int = len(EXERCISES)
) -> tuple[ClassRecords, set[tuple[str, str]]]:
    """Independent learners, of whom ``common`` of the right answers are the same; then copies."""
    chance = random.Random(seed)
    answers, right = [], []
    for _ in range(size):
        skill = chance.uniform(0.3, 1)
        ends = [chance.random() < skill for _ in EXERCISES[:exercises]]
        kinds = [
            (0 if chance.random() < common else chance.randint(1, 12)) if ok else chance.randint(20, 45) for ok in ends
        ]
        answers.append([_solution(n, kind) for n, kind in enumerate(kinds)])
        right.append(ends)
    pairs = set()
    for number in range(planted):
        source, thief = 2 * number, 2 * number + 1
        answers[thief] = [_renamed(text) for text in answers[source]]
        right[thief] = right[source]
        pairs.add((f"s{source:04}", f"s{thief:04}"))
    works = []
    for n, (own, ends) in enumerate(zip(answers, right, strict=True)):
        told = zip(EXERCISES[:exercises], own, ends, strict=True)
        ended = [outcome(name, "passed" if ok else "failed", answer=text) for name, text, ok in told]
        works.append(work(f"s{n:04}", ended))
    return records(works), pairs


def _found(made: ClassRecords) -> list[Pair]:
    return near_copies(made.lessons[0], made.of_lesson(made.lessons[0].slug))


def test_planted_copies_are_found_and_hardly_anybody_else() -> None:
    planted: set[tuple[int, str, str]] = set()
    named: dict[tuple[int, str, str], float] = {}
    for seed in range(4):
        made, pairs = _class(60, 3, seed)
        planted |= {(seed, *pair) for pair in pairs}
        named |= {(seed, pair.first, pair.second): pair.probability for pair in _found(made)}
    likely = {key for key, probability in named.items() if probability >= 0.9}
    assert len(planted & named.keys()) / len(planted) >= 0.9
    assert len(planted & named.keys()) / len(named) >= 0.8
    assert len(planted & likely) / len(likely) >= 0.95


def test_many_equal_right_answers_are_no_copies() -> None:
    """Three of four right answers are word for word the same in the whole class, and everybody is named in no pair."""
    named = sum(len(_found(_class(60, 0, seed, common=0.75)[0])) for seed in range(4))
    assert named <= 1


def test_a_copy_among_many_equal_right_answers_shows_by_the_odd_ones() -> None:
    made, pairs = _class(60, 1, 1, common=0.75)
    (pair,) = _found(made)
    assert {(pair.first, pair.second)} == pairs and pair.probability > 0.9
    odd = pair.evidence[0]
    assert odd.bits > 3 and odd.as_near <= 2 and not odd.verbatim


def test_a_small_class_says_nothing() -> None:
    made, _ = _class(SMALLEST_CLASS - 1, 1, 0)
    assert _found(made) == []


def test_unanswered_exercises_are_no_evidence() -> None:
    works = [work(f"s{n}", [outcome(name, "not answered") for name in STUBS]) for n in range(30)]
    assert _found(records(works)) == []


def test_groups_join_pairs() -> None:
    def pair(first: str, second: str, bits: float, lesson: str = "a") -> Pair:
        return Pair(lesson, first, second, 0.9, bits, (), 3)

    groups = grouped([pair("a", "b", 20), pair("c", "d", 30), pair("b", "e", 10), pair("a", "b", 5, "z")])
    assert [(one.lesson, one.learners) for one in groups] == [
        ("a", ("c", "d")),
        ("a", ("a", "b", "e")),
        ("z", ("a", "b")),
    ]


@pytest.mark.nightly
def test_a_thousand_submissions_take_seconds() -> None:
    made, pairs = _class(1000, 5, 2, exercises=6)
    start = time.process_time()
    got = {(pair.first, pair.second) for pair in _found(made)}
    assert time.process_time() - start < 30
    assert len(got & pairs) >= 3


def test_likeness_looks_through_disguise_and_not_through_another_program() -> None:
    stub = STUBS["first"]
    plain = "def first(x):\n    total = x * 2\n    other = x.relu()\n    return total + other"
    disguised = "def first(x):\n    b = x.relu()  # mine\n    a = x*2\n\n    return a + b"
    another = "def first(x):\n    return torch.stack([x] * 3).sum(0)"
    known = known_words(stub)
    rows = vectors([features(text, stub, known) for text in (plain, disguised, another)])
    cosines = similarity(rows, rows)
    assert cosines[0, 1] > 0.99 and cosines[0, 2] < 0.5


def test_anonymous_takes_broken_code_and_hostile_text() -> None:
    shown = anonymous('x = \'zoe@uni\'\n# zoe\ndef f(:\n  zoe_x = """unterminated zoe', "def f(x): pass", ["zoe"])
    assert "zoe" not in shown and 'x = "..."' in shown
    for hostile in ('"""' * 6000, "'" * 20_000, "\\" * 20_000, "[" * 30_000):
        start = time.process_time()
        anonymous(hostile, "")
        features(hostile, "", known_words(""))
        assert time.process_time() - start < 5
