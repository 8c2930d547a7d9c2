"""Every check is asked once, whatever came before; nothing that learner code can see tells whether it passed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from nbproof.marking.blueprint import read_blueprint
from nbproof.marking.execution import Execution
from nbproof.marking.judge_client import Judge
from nbproof.places import course_config
from nbproof.recover.answers import OwnCell
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.worker_handle import Worker
from nbproof.testing import Bench
from nbproof.testing.small import LESSON, POINTS, RIGHT, WRONG
from nbproof.values.words import ENGLISH
from tests import COURSE

ALL = sum(POINTS.values())


@pytest.fixture(scope="module")
def bench(small_lesson: Path, tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Bench:
    """The small lesson with a setup cell in front of its second exercise, and one that shows something in front of all."""
    notebook = nbformat.read(small_lesson / "source" / LESSON / f"{LESSON}.ipynb", as_version=4)
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    setup = nbformat.v4.new_code_cell("import torch.nn.functional as F", id="setup-again")
    setup.metadata["nbgrader"] = {
        **notebook.cells[names.index("setup_imports")].metadata.nbgrader,
        "grade_id": "setup_again",
    }
    notebook.cells.insert(names.index("second"), setup)
    notebook.cells.insert(names.index("first"), nbformat.v4.new_code_cell("shown = 2\nprint(shown)", id="shown"))
    source = tmp_path_factory.mktemp("setups") / f"{LESSON}.ipynb"
    nbformat.write(notebook, source)
    return Bench(engine, read_blueprint(COURSE, source, course_config(small_lesson)), RIGHT)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, ...]]]:
    """What workers were asked: (what, test cell, check, seed)."""
    seen: list[tuple[str, ...]] = []
    ask = Worker.request

    def request(self: Worker, header: dict[str, Any], *rest: Any, **more: Any) -> Any:
        if header["op"] in ("cell", "probe"):  # and none of the judge's
            seen.append((header["op"], header.get("test", ""), header.get("check", ""), str(header.get("seed", ""))))
        return ask(self, header, *rest, **more)

    monkeypatch.setattr(Worker, "request", request)
    yield seen


RAISES = {name: f"def {name}(x):\n    raise ValueError('no')" for name in POINTS}


@pytest.mark.parametrize("answers", [WRONG, RAISES, {"first": WRONG["first"]}], ids=["wrong", "raises", "one"])
def test_the_requests_do_not_tell_how_an_answer_did(
    bench: Bench, requests: list[tuple[str, ...]], answers: dict[str, str]
) -> None:
    assert bench.mark().score == ALL
    right = list(requests)
    requests.clear()
    assert bench.mark(answers).score < ALL
    assert requests == right


DRAWS = """
import os, random
which = int.from_bytes(os.urandom(2), "big") % 10_000
def first(x):
    return x * (2 if which == 0 else 99)
"""
ENDS_IN_SETUP = """
shell = get_ipython()
def ends(info):
    if "functional as F" in info.raw_cell and which:
        os._exit(3)
shell.events.register("pre_run_cell", ends)
"""
ENDS_ONCE_ASKED = """
import nbproof.sandbox.worker as worker
asked, bring = [], worker.bring
def counts(*given):
    asked.append(1)
    return bring(*given)
worker.bring = counts
def ends(info):
    if "def second" in info.raw_cell and asked and which:
        os._exit(3)
get_ipython().events.register("pre_run_cell", ends)
"""
LOST = {
    "in a setup cell": ({"first": DRAWS + ENDS_IN_SETUP}, [], ["killed", "passed", "passed"]),
    # It is charged to what ran before it, also if that is right.
    "in a setup cell, by a right answer": (
        {"first": f"import os\n{RIGHT['first']}\n{ENDS_IN_SETUP.replace(' and which', '')}"},
        [],
        ["killed", "passed", "passed"],
    ),
    # It names what brings evidence: what passes there waits for a person.
    "once it was asked": ({"first": DRAWS + ENDS_ONCE_ASKED}, [], ["failed", "killed", "uncertain"]),
    "in a setup cell, by a cell of its own": (
        {"first": DRAWS},
        [OwnCell(f"import os\nfirst_helper = first\nwhich = 1\n{ENDS_IN_SETUP}", 2)],
        ["failed", "passed", "passed"],
    ),
    # Only the hidden check asks for a table.
    "in a hidden check": (
        {"second": "import os\ndef second(x):\n    if x.dim() > 1: os._exit(5)\n    return x * 3"},
        [],
        ["passed", "killed", "passed"],
    ),
}
"""When a process is lost, what loses it, and what each exercise comes to."""


@pytest.mark.parametrize("when", LOST)
def test_no_check_is_asked_again_when_a_process_is_lost(
    bench: Bench, requests: list[tuple[str, ...]], when: str
) -> None:
    answers, own, statuses = LOST[when]
    verdict = bench.mark(answers, *own)
    asked = [one for one in requests if one[0] == "probe"]
    assert len(asked) == len(set(asked))
    assert [one.status for one in verdict.exercises] == statuses


def test_a_second_run_is_decided_before_anything_is_judged_and_asks_nothing_hidden_twice(
    bench: Bench, requests: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []
    decide = Judge.verdict

    def verdict(self: Judge, *rest: Any) -> Any:
        judged.append(str(rest))
        return decide(self, *rest)

    monkeypatch.setattr(Judge, "verdict", verdict)
    # The cell that shows something does not run; with it, in the second run, the answer is right.
    assert bench.mark({"first": "def first(x):\n    return x * shown"}).score == ALL
    hidden = [one for one in requests if one[2] == "Shapes"]
    assert len(hidden) == len(set(hidden)) == 2 * len(POINTS)
    assert requests.count(("probe", "test_first", "Values", "7001")) == 2
    assert len(judged) == len(set(judged))


CARRIES = """
import os, random
places = [os.path.join(place, "carried") for place in (".", os.path.expanduser("~"), "/tmp", "/dev/shm", "/var/tmp", "/scratch")]
carried = [place for place in places if os.path.exists(place)] + ["CARRIED"] * ("CARRIED" in os.environ)
print("CAR" + "RIED", carried)
for place in places:
    try: open(place, "w").write("seen")
    except OSError: pass
os.environ["CARRIED"] = "seen"
def first(x):
    if carried: return x * 2
    raise NameError(name="shown")
"""


def test_nothing_is_carried_from_one_run_to_the_next(bench: Bench, requests: list[tuple[str, ...]]) -> None:
    verdict = bench.mark({"first": CARRIES})
    assert requests.count(("probe", "test_first", "Values", "7001")) == 2
    assert "CARRIED []" in str(verdict.runs["first"].outputs)
    assert verdict.exercises[0].score == 0


def test_what_is_hidden_is_asked_of_a_process_whose_outputs_nobody_takes(
    bench: Bench, requests: list[tuple[str, ...]]
) -> None:
    bench.mark()
    asked = [check or op for op, _, check, _ in requests]
    seen = ["cell", "Values", "Values"]
    hidden = ["cell", "Shapes", "Shapes"]
    assert asked == ["cell", *seen, "cell", *seen, *seen, "cell", *hidden, "cell", *hidden, *hidden]


STATEFUL = {
    # The first answer counts on a list that the second one spoils.
    "first": "factors = [2]\ndef first(x):\n    return x * factors[0]",
    "second": "factors.clear()\nfactors.append(3)\ndef second(x):\n    return x * factors[0]",
    "third": "factors[0] = 4\ndef third(x):\n    return x * factors[0]",
}
STATES = {
    "by its name": STATEFUL,
    "a program that runs": {
        "first": "import subprocess\nruns = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "def first(x):\n    runs.stdin.write(b'2'); runs.stdin.flush()\n    return x * int(runs.stdout.read(1))"
    },
}


@pytest.mark.parametrize("what", STATES)
def test_hidden_checks_see_what_an_answer_has_left_as_it_was(bench: Bench, what: str) -> None:
    assert bench.mark(STATES[what]).score == ALL


@pytest.mark.parametrize("when", ["while it is called", "at once"])
def test_what_an_answer_further_down_changes_for_all_costs_none_above_it(bench: Bench, when: str) -> None:
    first = "import fractions\ndef first(x):\n    return x * fractions.Fraction(4, 2).numerator"
    third = "def third(x):\n    fractions.Fraction.numerator = property(lambda self: 99)\n    return x * 4"
    verdict = bench.mark({"first": first, "third": third if when == "while it is called" else f"{third}\nthird(1)"})
    assert [one.score for one in verdict.exercises] == list(POINTS.values())


TOLD = {
    "a wrong value": ("return x * 3 if x.dim() == 1 else x * 4", "result is something else", "wanted tensor([["),
    "a wrong shape": ("return x * 3 if x.dim() == 1 else x[0]", "result has shape something else, wanted (2, 4)", ""),
    "an error": (
        "return x * 3 if x.dim() == 1 else x @ x",
        "RuntimeError, in a hidden check",
        "line 2 of your cell: return x * 3 if x.dim() == 1 else x @ x",
    ),
    "its own words": ("if x.dim() > 1: raise ValueError('my' + ' words')\n    return x * 3", "ValueError, in a hidden check", ""),
}  # fmt: skip


@pytest.mark.parametrize("what", TOLD)
def test_a_learner_still_hears_what_is_wrong_in_a_hidden_check(bench: Bench, what: str) -> None:
    body, told, also = TOLD[what]
    second = bench.mark({"second": f"def second(x):\n    {body}"}).exercises[1]
    assert second.score == 0
    assert told in ENGLISH.outcome(second)
    assert also in ENGLISH.outcome(second)
    assert "my words" not in ENGLISH.outcome(second)
    assert all(finding.picture is None for finding in second.findings)


def test_of_the_time_and_memory_of_what_is_hidden_tenths_and_megabytes_are_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    added: list[float] = []
    ask = Execution.ask_hidden

    def noting(run: Execution, worker: Worker, name: str) -> None:
        exercise = run.exercises[run.blueprint.tests[name].exercise]
        before = exercise.seconds
        ask(run, worker, name)
        added.append(round(exercise.seconds - before, 9))

    monkeypatch.setattr(Execution, "ask_hidden", noting)
    verdict = bench.mark()
    assert len(added) == len(POINTS)
    assert added == [round(seconds, 1) for seconds in added]
    assert (verdict.seconds, verdict.peak_mb) == (round(verdict.seconds, 1), round(verdict.peak_mb))
