"""Numbers of a class against their definitions, on classes made by hand."""

from __future__ import annotations

import math
import statistics

import pytest
from bs4 import BeautifulSoup

from nbproof.report.findings import find
from nbproof.report.needs_help import Sign, needs_help
from nbproof.report.report import html_of
from nbproof.report.statistics import (
    discrimination,
    exercise_statistics,
    faults,
    lesson_statistics,
    misconceptions,
    unrecognised,
)
from tests.reporting.made import outcome, records, work


def _correlation(xs: list[float], ys: list[float]) -> float:
    mean_x, mean_y = statistics.fmean(xs), statistics.fmean(ys)
    above = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return above / math.sqrt(sum((x - mean_x) ** 2 for x in xs) * sum((y - mean_y) ** 2 for y in ys))


def test_discrimination_is_the_correlation_of_passing_with_the_rest() -> None:
    passed = [True, True, False, True, False, False, True]
    rest = [9.0, 7.0, 2.0, 8.0, 5.0, 1.0, 3.0]
    assert discrimination(passed, rest) == pytest.approx(_correlation([float(one) for one in passed], rest))
    assert discrimination([True, True, True], [1.0, 2.0, 3.0]) is None
    assert discrimination([True, False, True], [2.0, 2.0, 2.0]) is None


def _graded(name: str, ends: dict[str, str]) -> object:
    return work(name, [outcome(exercise, status) for exercise, status in ends.items()])


def test_an_exercise_is_not_correlated_with_itself_and_flagged_where_negative() -> None:
    """`third` is passed by just those who fail the rest."""
    works = [
        _graded(f"s{n:02}", {"first": end, "second": end, "third": "failed" if end == "passed" else "passed"})
        for n, end in enumerate(["passed", "failed"] * 12)
    ]
    made = records(works)  # type: ignore[arg-type]
    first, _, third = exercise_statistics(made, made.lessons[0])
    assert third.discrimination == pytest.approx(-1.0) and third.remark.startswith("negative")
    # The rest of `first` is second + third, which is 2 points for everybody.
    assert first.discrimination is None and first.pass_rate == 0.5
    few = records(works[:6])  # type: ignore[arg-type]
    assert "too few" in exercise_statistics(few, few.lessons[0])[2].remark


def test_scores_leave_out_who_handed_in_nothing_and_what_was_not_graded() -> None:
    good = [work(f"s{n}", [outcome("first", "passed", points=n)]) for n in (1, 2, 3, 6)]
    broken = work("t", [], problem="it is not a notebook")
    other = work("u", [outcome("first")], lesson="02_other")
    made = records([*good, broken, other])
    told = lesson_statistics(made, made.lessons[0])
    assert (told.handed_in, told.ungraded, told.missing) == (4, 1, ("u",))
    assert (told.mean, told.median, told.quartiles) == (3.0, 2.5, (1.75, 3.75))
    assert told.deviation == pytest.approx(statistics.stdev([1, 2, 3, 6]))
    assert [one.kind for one in faults(made)] == ["not graded"]


def test_misconceptions_are_ranked_by_learners_and_their_example_names_nobody() -> None:
    text = "def first(x):\n    # Zora wrote this\n    zora_value = x\n    return f'by Zora {x}' or zora_value"
    works = [
        work(name, [outcome("first", "failed", hints=["local_name"], answer=text), outcome("second", "failed", hints=hints)])
        for name, hints in (("zora", ["registered_twice"]), ("yan", ["local_name"]), ("xu", []))
    ]  # fmt: skip
    first, second = misconceptions(records(works))
    assert (first.hint.id, first.learners, first.of, first.share) == ("local_name", ("xu", "yan", "zora"), 3, 1.0)
    assert second.hint.id == "registered_twice" and second.learners == ("zora",)
    assert "zora" not in first.example.lower() and "name_1 = x" in first.example and first.example_of == "first"


def test_wrong_answers_nobody_recognises_are_grouped_by_first_difference() -> None:
    works = [
        work(name, [outcome("first", "failed", told=told, answer="def first(x):\n    return 1")])
        for name, told in (
            ("ada", "result[1] is 3.5, wanted 7"), ("bo", "result[0] is 1e-3, wanted 2"), ("cy", "KeyError: 'ada_key'"),
        )
    ]  # fmt: skip
    two, one = unrecognised(records(works))
    assert two.learners == ("ada", "bo") and one.learners == ("cy",)
    assert "ada" not in one.difference


def test_who_needs_help_and_why() -> None:
    works = []
    for lesson, weak in (("01_a", "passed"), ("02_b", "passed"), ("03_c", "failed")):
        for name in ("ann", "bob", "cid", "dee", "eve", "fay"):
            ends = {"ann": "passed", "bob": weak, "cid": "not answered", "dee": "passed"}.get(name, "passed")
            works.append(work(name, [outcome("first", ends), outcome("second", ends)], lesson=lesson))
    works = [one for one in works if (one.learner, one.lesson) != ("dee", "03_c")]
    works += [work("gil", [outcome("first", "failed")], lesson=lesson) for lesson in ("02_b", "03_c")]
    found = {one.learner: one for one in needs_help(records(works))}
    assert next(iter(found)) == "cid" and "6 of 6 exercises not answered" in " ".join(found["cid"].reasons)
    assert any(reason.startswith("falling") for reason in found["bob"].reasons)
    assert any("nothing handed in for 03_c" in reason for reason in found["dee"].reasons)
    assert any("0% of the points, without 01_a" in reason for reason in found["gil"].reasons)
    assert "ann" not in found


def test_who_comes_first_is_a_list_for_one_evening_and_the_rest_is_counted() -> None:
    """120 learners, of whom 52 show a sign: a list of them all tells a teacher nothing."""
    ends = [["failed"] * 8] * 10 + [["passed"] * 3 + ["failed"] * 5] * 20 + [["passed"] * 4 + ["timeout"] * 4] * 22
    ends += [["passed"] * 8] * 68
    works = [
        work(f"s{number:03}", [outcome(f"e{at}", end) for at, end in enumerate(mine)])
        for number, mine in enumerate(ends)
    ]
    findings = find(records(works))
    first = findings.to_talk_to
    assert len(findings.needy) == 52 and len(first) == 12
    assert [one.learner for one in first[:10]] == [f"s{number:03}" for number in range(10)], "those who have nothing"
    assert all(one.reasons and len(one.reasons) == len(one.signs) for one in first)
    assert min(one.urgency for one in first) >= max(one.urgency for one in findings.needy[12:])
    assert [(sign, len(whose)) for sign, whose in findings.other_signs] == [(Sign.STUCK, 20), (Sign.FEW_POINTS, 20)]
    page = BeautifulSoup(html_of(findings, "today"), "html.parser").find(id="help")
    assert page is not None and len(page.select("tbody tr")) == 12
    assert "40 more show a sign: 20 whose code often never ended, 20 with few points" in page.get_text()
    assert len(find(records(works[:9])).to_talk_to) == 5, "of a small class five"
