"""The author contract: a sound lesson meets it, and every way to break it is found, with place and next command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nbproof.authoring.contract import Record, check_contract, select
from nbproof.command import course_command
from tests import COURSE
from tests.authoring.tiny import ACCEPTED, ANSWER, HOOK, MUTANTS, START, TEST, Sketch, mutant, write_lesson

pytestmark = pytest.mark.slow

RIGHT = ACCEPTED["with_lambda"]


def bare(name: str, **changes: object) -> Sketch:
    """An exercise without candidates but those given: what it lacks is noted beside what a test looks for."""
    return replace(Sketch(name, accepted={}, mutants={}), **changes)  # type: ignore[arg-type]


def changed(text: str, before: str, after: str) -> str:
    assert before in text
    return text.replace(before, after)


FLAWED = '''\
import torch

from nbproof.checks.check import Check, check


class Flawed(Check):
    """One field."""

    blame = {"answer": "no_such_hint"}
    def probe(self, nb, case):
        return {"answer": 1}

    def truth(self, case):
        return {"answer": 1}


class Leaning(Flawed):
    """Another."""

    def truth(self, case):
        return {"answer": add(1, 2)}


class Drawn(Flawed):
    """A third."""

    def truth(self, case):
        return {"answer": torch.nn.Linear(2, 1)(torch.ones(2))}


check("NAME", Flawed, Drawn)
check("someone_else", Leaning)
'''

SHOWN = TEST.partition("### BEGIN HIDDEN TESTS\n")[0]

BROKEN = [
    bare("unguarded", test=SHOWN),
    bare("sings", mutants={"right": mutant("the same", "none | canary", HOOK.format("output"))}),
    bare(
        "guarded_by_the_same",
        test=changed(TEST, "lambda self, x1, x2: x1 * x2", "lambda self, x1, x2: x1 + x2").replace(
            " * case", " + case"
        ),
    ),
    replace(
        Sketch("unseen"), mutants={**MUTANTS, "swapped": mutant("the same", "none", HOOK.format("args[1] + args[0]"))}
    ),
    bare("loses", answer=changed(ANSWER, "append(output)", "append(output + 1)")),
    bare("raises", answer=changed(ANSWER, "add = Add()", "add = Add()\n### BEGIN SOLUTION\nlost\n### END SOLUTION")),
    bare("c_stderr", answer=ANSWER + "import os\n_ = os.write(2, b'a word from C')\n"),
    bare(
        "stub_earns",
        test=FLAWED.split("class Leaning")[0].replace("no_such_hint", "wrong_order") + 'check("NAME", Flawed)\n',
    ),
    bare("no_check", test="import torch\n"),
    bare("flawed", test=FLAWED),
    bare("leaning_cell", test=changed(TEST, "import torch\n", "leans = add\n")),
    bare(
        "leaning_visible",
        inline=True,
        test="### BEGIN HIDDEN TESTS\nSIZE = 3\n### END HIDDEN TESTS\n" + changed(TEST, '("x1", 3)', '("x1", SIZE)'),
    ),
    bare(
        "candidates",
        accepted={
            "wrong": RIGHT.replace("append(output)", "append(None)"),
            "second_run": "runs = globals().get('runs', 0) + 1\n" + RIGHT.replace("(output)", "(output * runs)"),
        },
        mutants={
            "right": mutant("none at all", "none", RIGHT),
            "other_hint": MUTANTS["never_registered"].replace("hook_never_ran", "wrong_order"),
            "unknown_hint": MUTANTS["never_registered"].replace("hook_never_ran", "no_such_hint"),
            "half": mutant("half a line", "none", "add.register("),
        },
    ),
]

FACTS = [
    ("loses", "the reference solution loses marks in Call: answer[0] is tensor("),
    ("raises", "the reference solution raises: answer: NameError: name 'lost' is not defined"),
    ("c_stderr", "the reference solution writes to stderr: a word from C"),
    ("stub_earns", "the untouched stub earns marks in test_stub_earns"),
    ("no_check", "the reference solution: a test cell calls no check, so it cannot fail"),
    ("leaning_cell", "test_leaning_cell, run without the notebook: NameError: name 'add' is not defined"),
    ("leaning_visible", "test_leaning_visible without its hidden tests: Call: NameError: name 'SIZE' is not defined"),
    ("flawed", "test_flawed, run without the notebook: NameError: name 'add' is not defined"),
    ("flawed", "test_flawed calls check('someone_else', ...)"),
    ("flawed", "test_flawed/Flawed names the hint 'no_such_hint', which does not exist"),
    ("flawed", "test_flawed/Drawn: its truth differs from run to run"),
    ("unseen", "2 of 7 mutants pass the visible checks, at most 5% may: formula, swapped"),
    ("sings", "test_sings/OtherForward: the canary passes beside a right answer"),
    ("unguarded", "test_unguarded has no hidden check, on which its marks could rest"),
    ("guarded_by_the_same", "test_guarded_by_the_same/OtherForward: evidence put together of what learners have"),
    ("guarded_by_the_same", "the hidden check test_guarded_by_the_same/OtherForward finds no mutant: nothing shows"),
]
OF_CANDIDATES = {
    "right.py: wrong": "accepted answer wrong loses marks in Call: answer[0] is None, wanted a tensor of shape (3,)",
    "right.py: second_run": "accepted second_run: two seeds disagree, failing checks none and ['test_candidates/Call',",
    "wrong.py: right": "the mutant right survives: none at all",
    "wrong.py: other_hint": "the mutant other_hint gets the hint hook_never_ran, expected wrong_order",
    "wrong.py: unknown_hint": "the mutant unknown_hint expects the hint 'no_such_hint', which does not exist",
    "wrong.py: half": "the mutant half is not valid Python, and fails only for that: answer: SyntaxError",
}
"""File and name -> fact, of the answers to the last of them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with the sound exercise and every broken one."""
    root = tmp_path_factory.mktemp("contract")
    write_lesson(root, "00_sound", [Sketch()])
    write_lesson(root, "01_broken", BROKEN)
    return root


@pytest.fixture(scope="module")
def records(folder: Path) -> dict[str, Record]:
    return {record.exercise.id: record for record in check_contract(select(COURSE, folder, []))}


def test_a_sound_exercise_meets_the_contract(records: dict[str, Record]) -> None:
    record = records["catch"]
    assert record.violations == []
    assert (record.accepted, record.killed, record.named, record.seen) == (4, 6, 5, 5)


def told(records: dict[str, Record], name: str, fact: str) -> tuple[str, str]:
    """The place of a fact: file, and its line."""
    (found,) = {str(one): one for one in records[name].violations if one.fact.startswith(f"{name}: {fact}")}.values()
    assert found.next_command.rpartition("; then: ")[2] == course_command(f"check {name}") != found.next_command
    path, _, line = found.place.rpartition(":")
    return Path(path).name, Path(path).read_text().splitlines()[int(line) - 1]


@pytest.mark.parametrize(("name", "fact"), FACTS)
def test_a_broken_exercise_is_refused_with_place_and_next_command(
    name: str, fact: str, records: dict[str, Record]
) -> None:
    file, line = told(records, name, fact)
    assert file == "lesson.py" and f'"grade_id": "{name}"' in line


@pytest.mark.parametrize(
    ("file", "fact"),
    [("right.py", "2 accepted answers, at least 4 are needed"), ("wrong.py", "4 mutants, at least 6 are needed")],
)
def test_where_answers_are_missing_their_file_is_named(file: str, fact: str, records: dict[str, Record]) -> None:
    (found,) = [one for one in records["candidates"].violations if one.fact == f"candidates: {fact}"]
    assert Path(found.place).is_file() and Path(found.place).parts[-2:] == ("candidates", file)
    assert found.next_command.startswith("write 2 more there, each as: # %% <name>, below it ")


@pytest.mark.parametrize("candidate", OF_CANDIDATES)
def test_a_candidate_at_fault_is_named_with_its_cell(candidate: str, records: dict[str, Record]) -> None:
    assert told(records, "candidates", OF_CANDIDATES[candidate]) == tuple(candidate.replace(": ", "|# %% ").split("|"))


def test_what_follows_from_a_flawed_check_is_not_told_beside_it(records: dict[str, Record]) -> None:
    assert [one.fact for one in records["leaning_cell"].violations] == [
        "leaning_cell: test_leaning_cell, run without the notebook: NameError: name 'add' is not defined"
    ]


def test_an_answer_that_never_ends_and_one_that_dies_cost_nobody_else(tmp_path: Path) -> None:
    answers = {
        "endless": START + "while True: pass\n",
        "dies": START + "import os\nos.write(2, b'full')\nos._exit(3)\n",
    }
    write_lesson(tmp_path, "00_cut", [bare("cut", accepted=answers)])
    steps: list[tuple[int, int]] = []
    (record,) = check_contract(select(COURSE, tmp_path, []), lambda done, of, name: steps.append((done, of)), limit=3)
    dies, endless = (one for one in record.violations if "cut off" in one.fact)
    assert endless.fact == "cut: accepted answer endless: its trial was cut off: timeout"
    assert endless.place.endswith("right.py:7")
    assert dies.fact == "cut: accepted answer dies: its trial was cut off: died: full"
    assert dies.next_command == f"mend the answer there, or its checks; then: {course_command('check cut')}"
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
