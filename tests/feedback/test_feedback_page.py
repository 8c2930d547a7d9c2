"""A learner's page: what it tells about every way in which an exercise can end, and what it never shows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import bs4
import pytest
import torch

from nbproof.authoring.secret_lines import Secrets
from nbproof.display.help import all_hints, exercise_hints, steps
from nbproof.feedback.own_code import Made, made_in
from nbproof.feedback.page import Addressee, feedback_page, refusal_page
from nbproof.gradebook.marks import CellMark, Lateness, Mark
from nbproof.marking.results import CellRun, Verdict, WrittenAnswer
from nbproof.sandbox.packed_place import pack
from nbproof.values.compare import Difference, Differs
from nbproof.values.results import Cause, Finding, Outcome, ProbeError, Reason, Status
from nbproof.values.words import ENGLISH
from tests import COURSE

LESSON = "02_tensor_hooks"
Look = Callable[[str], bs4.BeautifulSoup]
NOTHING = Secrets([])
SECRET = "wanted = torch.autograd.grad(loss, model.W)[0]"
EVIL = "</pre></code></textarea><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}\u202e"


def exercise(name: str = "weight_grad", status: str = "failed", said: str = "", **fault: object) -> Outcome:
    """How one exercise ended, of two checks in one test cell. ``said``: what ended it, or what is wrong."""
    part = f"test_{name}"
    right = status == "passed"
    lasts = Finding("Lasts", "It lasts.", True, part=part)
    told = {"asked": "It is right.", "trouble": ProbeError("", said), **fault}
    wrong = Finding("Right", passed=right, part=part, **told)  # type: ignore[arg-type]
    reason = Reason(Cause.LOST, said) if status not in ("passed", "failed", "not answered") else None
    return Outcome(name, Status(status), (lasts, wrong), {part: 2.0 * right}, {part: 2.0}, reason=reason)


def page(*exercises: Outcome, marks: Mark | None = None, secrets: Secrets = NOTHING, **fields: object) -> str:
    answers = {one.id: f"# {one.id}\nanswer = 1" for one in exercises}
    verdict = Verdict("ada", LESSON, 7, exercises, **{"answers": answers, "runs": {}, **fields})  # type: ignore[arg-type]
    return feedback_page(Addressee(COURSE, verdict, marks or Mark(verdict), secrets), "digest", 1_772_466_000.0)


def words(tree: bs4.Tag | None) -> str:
    assert tree is not None
    return " ".join(tree.get_text(" ").split())


def mark(name: str, score: float, most: float = 2.0, given: float | None = None, waits: bool = False) -> CellMark:
    return CellMark(name, most, score, given, waits_for_person=waits)


NOTHING_GIVEN = Mark(Verdict("ada", LESSON))


def test_total_bar_and_order(looked_at: Look) -> None:
    tree = looked_at(
        page(exercise("weight_grad", "passed"), exercise("intermediate_grad"), exercise("double_grad", "not answered"))
    )
    assert "2 of 6 points" in words(tree.header)
    assert "1 of 3 exercises solved" in words(tree.header)
    assert tree.select_one(".bar")["aria-label"] == "Total: 2 of 6 points"  # type: ignore[index]
    assert tree.select_one(".bar span")["style"] == "width:33.3%"  # type: ignore[index]
    assert [words(card.h2) for card in tree.select(".card")] == [
        "Catch the gradient of a weight",
        "Watch a gradient in the middle",
        "Double a gradient",
    ]
    assert [card["class"][1] for card in tree.select(".card")] == ["passed", "wrong", "open"]
    assert words(tree.h1) == "Tensor hooks: watch and change gradients"
    assert "Graded 2026-03-02 15:40 UTC, test cases of seed 7." in words(tree.footer)


def test_a_wrong_answer_is_told_in_the_words_of_the_notebook(looked_at: Look) -> None:
    hint = all_hints(COURSE)["accumulated_grad"]
    tree = looked_at(
        page(
            exercise(
                asked="Each pass adds `one`.",
                difference=Difference("answer[1]", Differs.SHAPE, "(3,)", "(3, 1)"),
                trouble=None,
                hint="accumulated_grad",
                printed="seen 1",
            )
        )
    )
    told = words(tree.select_one(".card"))
    assert "answer[1] has shape (3,), wanted (3, 1)" in told
    assert "Asked: Each pass adds one ." in told
    assert "seen 1" in told
    titles = [words(title) for title in tree.select(".steps dt")]
    assert [title.lower() for title in titles] == [name for name, _ in steps(hint, ENGLISH)]
    for text in (hint.name, hint.question, hint.idea, hint.read):
        assert " ".join(text.replace("`", " ").split()) in told.replace(" .", " .")
    assert [words(one) for one in tree.select(".checks li")] == [
        "✓ right: It lasts.",
        "✗ not yet: Each pass adds one .",
    ]


def test_yours_beside_wanted_is_a_picture(looked_at: Look) -> None:
    compared = pack(({"answer": torch.tensor([1.0, 2.0])}, {"answer": torch.tensor([1.0, 2.5])}))
    tree = looked_at(page(exercise(said="answer differs", picture=compared)))
    image = tree.img
    assert image is not None
    assert "wanted (2,): 1, 2.5" in str(image["alt"])
    assert int(str(image["width"])) > 300
    for nothing in (None, {"where": "x"}, {**(compared or {}), "bytes": "AAAA"}):
        assert looked_at(page(exercise(said="answer differs", picture=nothing))).img is None


def test_lost_exercises_are_told_kindly_with_the_limit(looked_at: Look) -> None:
    sentence = "Your code used more than 2048 MB of memory."
    told = words(looked_at(page(exercise(status="out of memory", said=sentence))).select_one(".card"))
    assert sentence in told and "a list that grows" in told and "other exercises were graded" in told


def test_an_error_comes_with_the_learners_own_line(looked_at: Look) -> None:
    traceback = [
        "\x1b[31m-----\x1b[39m",
        "Traceback (most recent call last)",
        "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39mIn[6], line 7",
        "      6 x",
        "----> 7 helper(3)",
        "Cell In[6], line 2, in helper(a)",
        "----> 2     return a / 0",
        "File /opt/lib/python3.11/site-packages/torch/x.py:12, in f()",
        "---> 12 theirs(",
    ]
    outputs = (
        {"output_type": "stream", "name": "stdout", "text": "so far"},
        {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "x", "traceback": traceback},
    )
    missing = ProbeError("Unanswered", "", name="f")
    reason = Reason(Cause.ERROR, "ZeroDivisionError: x")
    broken = replace(exercise(status="error", trouble=missing, hint="cell_stopped"), reason=reason)
    text = page(broken, runs={"weight_grad": CellRun(outputs, "ZeroDivisionError: x")})
    told = words(looked_at(text).select_one(".card"))
    assert "line 2 of your cell: return a / 0" in told
    assert "so far" in told
    assert "not defined" not in told
    assert "torch/x.py" not in text
    assert "theirs(" not in text


def test_an_untouched_exercise_says_where_to_begin(looked_at: Look) -> None:
    told = words(looked_at(page(exercise("intermediate_grad", "not answered"))).select_one(".card"))
    assert exercise_hints(COURSE)["intermediate_grad"].question.split("`")[0].strip() in told
    assert 'hint("intermediate_grad")' in told
    assert "Your answer" not in told


@pytest.mark.parametrize(("status", "given"), [("uncertain", 2.0), ("failed", 0.0), ("failed", 2.0)])
def test_where_a_persons_points_count_no_word_of_the_grader_stands_beside_them(
    looked_at: Look, status: str, given: float
) -> None:
    marks = replace(
        NOTHING_GIVEN, max_score=2.0, cells={"test_weight_grad": mark("test_weight_grad", given, given=given)}
    )
    waits = exercise("weight_grad", status, said="It has no marks yet.")
    tree = looked_at(page(waits, marks=marks))
    told = words(tree.select_one(".card"))
    assert "Everything is right" not in words(tree) and ("Full marks." in words(tree)) == (given == 2)
    assert "Marked by your instructor" in told
    assert ("the tests have found" in told) == (status == "failed")
    assert ("no marks yet" in told) == (status == "failed"), (
        "what waits waits no more; why a check failed is still told"
    )
    assert f"{given:g} of 2" in told
    assert not [word for word in ("Partly right", "Passed", "Not yet", "Waits for") if word in told]


def test_a_mark_for_an_earlier_answer_says_so(looked_at: Look) -> None:
    given = replace(mark("test_weight_grad", 1.0, given=1.0), waits_for_person=True)
    marks = replace(NOTHING_GIVEN, max_score=2.0, cells={"test_weight_grad": given})
    assert "Marked by your instructor before something changed" in words(looked_at(page(exercise(), marks=marks)))


def test_manual_marks_comments_and_lateness(looked_at: Look) -> None:
    cells = {"test_weight_grad": mark("test_weight_grad", 1.5, given=1.5)}
    late = Lateness(7_300.0, handed_in=datetime(2026, 3, 2))
    marks = Mark(NOTHING_GIVEN.verdict, 2.0, cells, {"weight_grad": "Half.\n\nSee <b>me</b>"}, 0.5, late)
    tree = looked_at(page(exercise(), marks=marks))
    told = words(tree)
    assert "1 of 2 points" in told, "1.5, less 0.5 for being late"
    assert "Handed in 2026-03-02 00:00 UTC. Late by 2 h 1 min; points taken off: 0.5." in told
    assert "Your instructor says Half. See <b>me</b>" in told
    assert tree.select_one(".card")["class"] == ["card", "partly"]  # type: ignore[index]
    assert tree.b is None
    assert "no points are taken off" in words(looked_at(page(exercise(), marks=replace(marks, penalty=0.0))))
    full = replace(marks, cells={"test_weight_grad": mark("test_weight_grad", 2.0)})
    assert "1.5 of 2 points" in (told := words(looked_at(page(exercise(), marks=full)))) and "Full marks" not in told


def test_a_page_says_when_it_was_handed_in_and_when_it_was_due(looked_at: Look) -> None:
    late = Lateness(handed_in=datetime(2026, 11, 22, 10), due=datetime(2026, 11, 30, 23, 59, 59), extended=True)
    given = Mark(NOTHING_GIVEN.verdict, 2.0, {"test_weight_grad": mark("test_weight_grad", 2.0)}, late=late)
    told = "Handed in 2026-11-22 10:00 UTC. Due 2026-11-30 23:59 UTC, with your extension."
    assert f"solved. {told}" in words(looked_at(page(exercise(), marks=given)).header)


TO_MARK = "Waits for your instructor", "person", "of 2 points; 2 of them are still to be marked"


@pytest.mark.parametrize(
    ("answered", "cell", "said"),
    [
        (True, mark("why", 0.0, waits=True), TO_MARK),
        (True, mark("why", 1.0, given=1.0), ("Marked by your instructor", "partly", "1 of 2 points")),
        (False, mark("why", 0.0), ("Not answered", "open", "0 of 2 points")),
    ],
)
def test_written_answers(looked_at: Look, answered: bool, cell: CellMark | None, said: tuple[str, str, str]) -> None:
    says, kind, points = said
    comments = {"why": "Well put."} if cell and cell.given else {}
    marks = Mark(NOTHING_GIVEN.verdict, 2.0, {"why": cell} if cell else {}, comments)
    text = page(marks=marks, written=(WrittenAnswer("why", 2.0, answered),), answers={"why": f"Because\n{EVIL}"})
    tree = looked_at(text)
    card = tree.select_one(".card")
    assert says in words(card)
    assert card is not None and card["class"] == ["card", kind]
    assert points in words(tree)
    assert ("Because" in words(card)) == answered
    assert ("Well put." in words(card)) == bool(marks.comments)


def test_pages_of_other_peoples_notebooks(looked_at: Look) -> None:
    """Called by headings, in the notebook's order; a cell's own error first, then what it made."""
    plot, squares = "cell-d0be99db1c88ce43", "cell-1c88ce43d0be99db"
    picture = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}, "metadata": {}}
    tree = looked_at(
        page(
            exercise(squares, "passed"),
            titles={plot: "Plot `y`", squares: "Part B"},
            written=(WrittenAnswer(plot, 2.0, True, code=True),),
            answers={plot: "y = 1 / 0", squares: "x"},
            runs={plot: CellRun((picture,), "ZeroDivisionError: division by zero")},
        )
    )
    first, second = tree.select(".card")
    assert words(first).startswith(
        "Plot y Waits for your instructor ? of 2 Your cell ended with an error: ZeroDivisionError"
    )
    assert "A person reads this answer." in words(first)
    assert first.select_one("h2 code") and first.select_one("pre.code") and first.select_one("details[open] img")
    assert words(second).startswith("Part B Passed")
    assert "cell-" not in words(tree)


def test_nothing_that_a_learner_made_up_runs(looked_at: Look) -> None:
    hostile = exercise(
        difference=Difference(EVIL, Differs.TEXT, EVIL, "w"),
        trouble=None,
        printed=EVIL,
        picture=pack(({EVIL: [EVIL, "b"]}, {EVIL: ["a", "b"]})),
    )
    raised = exercise("intermediate_grad", trouble=ProbeError(EVIL, EVIL, 1, EVIL))
    outputs = (
        {"output_type": "display_data", "data": {"text/html": EVIL, "text/plain": EVIL, "image/png": '"onerror="'}},
        {"output_type": "stream", "text": EVIL},
        {"output_type": "error", "traceback": [EVIL, "Cell In[1], line 1", EVIL]},
        {"output_type": "stream", "text": [EVIL]},
        {"output_type": "error", "traceback": EVIL},
        {},
    )
    text = page(
        hostile,
        raised,
        answers={"weight_grad": EVIL},
        runs={"weight_grad": CellRun(outputs, EVIL)},
        recovered={"weight_grad": EVIL},
        marks=replace(NOTHING_GIVEN, comments={"weight_grad": EVIL}),
    )
    tree = looked_at(text)
    assert "{{ 7*7 }}" in words(tree)
    assert "\u202e" not in text
    assert "<script>" in words(tree), "shown as what it is"
    looked_at(refusal_page(COURSE, EVIL, EVIL, EVIL, "d"))


def test_lines_of_the_tests_are_taken_out_wherever_a_learner_put_them(looked_at: Look) -> None:
    secrets = Secrets([(SECRET, "a hidden test")])
    told = f"seen:\n  {SECRET}"
    bad = exercise(trouble=None, difference=Difference("answer" * 30, Differs.TEXT, told, told), printed=told)
    raised = exercise("intermediate_grad", trouble=ProbeError("ValueError", told, 1, told))
    outputs = (
        {"output_type": "stream", "text": told},
        {"output_type": "error", "traceback": ["Cell In[1], line 1", f"----> 1 {SECRET}"]},
    )
    text = page(bad, raised, runs={"weight_grad": CellRun(outputs, told)}, secrets=secrets)
    looked_at(text)
    assert "autograd.grad(loss" not in text
    assert "not shown" in text
    own = page(bad, answers={"weight_grad": f"x = 1\n{SECRET}"}, secrets=secrets)
    assert "autograd.grad(loss" in words(bs4.BeautifulSoup(own, "html.parser")), "what they wrote themselves is theirs"


def test_a_megabyte_of_output_makes_no_page_of_megabytes(looked_at: Look) -> None:
    much = "".join(f"line {number} {'x' * 50}\n" for number in range(17_000))
    answers = {"weight_grad": "x = '''\n" + much + "'''"}
    bad = exercise(trouble=None, difference=Difference(much, Differs.TEXT, much, much), printed=much)
    start = time.process_time()
    text = page(bad, answers=answers, runs={"weight_grad": CellRun(({"output_type": "stream", "text": much},), much)})
    assert time.process_time() - start < 2
    looked_at(text)
    assert len(text) < 60_000
    assert "characters left out" in text


PICTURE = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=\n", "text/plain": "<Figure>"}}
SAID = {"output_type": "stream", "text": "one\n"}


def test_what_a_cell_made_is_told_in_its_order_and_made_fit_to_be_shown() -> None:
    table = {"output_type": "execute_result", "data": {"text/html": "<table>", "text/plain": "   age\n0  3"}}
    error = {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["E"]}
    address = "data:image/png;base64,iVBORw0KGgo="
    made = made_in([SAID, PICTURE, SAID, table, error, {"output_type": "display_data", "data": None}], str.upper)
    assert made == (Made("ONE"), Made(picture=address), Made("ONE\n   AGE\n0  3"))
