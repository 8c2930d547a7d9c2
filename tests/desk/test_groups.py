"""Groups at the desk: their order, how they differ, one answer taken out of its group, and the time that is left."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests import COURSE
from tests.desk.classroom import LESSON, answer_anew, marks_in
from tests.desk.test_desk_server import EVIL, Served, a_class, served

pytest.importorskip("nbproof_desk", reason="the teacher's desk is NOT tested: nbproof-desk is not installed")
from nbproof_desk.difference import Passage, difference
from nbproof_desk.ledger import Apart
from nbproof_desk.likeness import alike_together
from nbproof_desk.marks import Change, Given
from nbproof_desk.pace import Pace
from nbproof_desk.questions import Reader
from nbproof_desk.server import Desk

__all__ = ["a_class", "served"]
PLACE = ("lesson", "question")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_what_is_alike_stands_together() -> None:
    texts = [
        "The hook runs twice, because backward is called twice.",
        "Gradients are summed over all paths.",
        "No idea",
        "The hook runs twice, becuase backward was called two times.",
        "All paths: gradients are summed up.",
        "",
    ]
    assert alike_together(texts) == [0, 3, 1, 4, 2, 5]
    assert alike_together([]) == [] and alike_together(["", "", "x"]) == [0, 1, 2]


def test_an_order_has_each_text_once_also_of_odd_ones() -> None:
    texts = [EVIL, "\ud800", "x" * 100_000, "x" * 50_000, "\u202e", EVIL.upper(), " "]
    order = alike_together(texts)
    assert sorted(order) == list(range(len(texts))) and order == alike_together(texts)
    assert order.index(3) == order.index(2) + 1


def test_a_difference_is_told_by_words() -> None:
    told = difference("The hook runs once.", "The hook never  runs.", spaces_count=False)
    assert told == [
        Passage("The hook"),
        Passage(" never", added=1),
        Passage(" runs"),
        Passage(" once", gone=1),
        Passage("."),
    ]
    assert difference("a\n  b", "a b", spaces_count=False) == [Passage("a b")]
    assert difference("a\n  b", "a\nb", spaces_count=True) == [
        Passage("a"),
        Passage("\n  b", gone=1),
        Passage("\nb", added=1),
    ]
    assert difference("", "", spaces_count=False) == []


@pytest.mark.parametrize(("one", "two"), [("", EVIL), (EVIL, "Because a < b."), ("a b " * 500, "b a " * 500)])
def test_both_texts_can_be_read_out_of_their_difference(one: str, two: str) -> None:
    told = difference(one, two, spaces_count=True)
    assert "".join(piece.text for piece in told if not piece.added).strip() == one.strip()
    assert "".join(piece.text for piece in told if not piece.gone).strip() == two.strip()


def test_a_pace_is_told_when_there_is_enough_and_pauses_do_not_count() -> None:
    pace = Pace()
    now = NOON
    for number in range(11):
        assert pace.seconds([PLACE]) is None
        pace.take_in(PLACE, "ann", now, 1)
        # Lunch, and another marker, who is slower.
        if number == 5:
            now += timedelta(hours=1)
            pace.take_in(PLACE, "ann", now, 1)
        now += timedelta(seconds=30)
    assert pace.seconds([PLACE]) == 30
    for minute in range(0, 40, 4):
        pace.take_in(PLACE, "bob", NOON + timedelta(minutes=minute), 1)
    assert pace.seconds([PLACE]) == (10 * 30 + 9 * 240) / 19
    assert pace.seconds([("lesson", "other")]) is None and pace.seconds([]) is None
    # What was taken back has to be done again.
    pace.take_in(PLACE, "ann", now - timedelta(seconds=30), -1)
    assert pace.seconds([PLACE]) == (10 * 30 + 9 * 240) / 18
    # A clock that was put back tells nothing.
    pace.take_in(PLACE, "ann", NOON, 1)
    assert pace.seconds([PLACE]) == (10 * 30 + 9 * 240) / 18


def in_order(served: Served) -> list[str]:
    """What the groups of the page say, from the top."""
    return [one.select_one(".answer").get_text().strip() for one in served.question("why").select(".group")]  # type: ignore[union-attr]


def look(served: Served, what: str) -> tuple[int, dict[str, str]]:
    """Ask for what a group shows on demand."""
    status, _, text = served.ask(f"/q/{LESSON}/why/{what}")
    return status, json.loads(text) if status == 200 else {"said": text}


def id_of(served: Served, text: str) -> str:
    """The id of the first group that this text stands in."""
    found = [one for one in served.question("why").select(".group") if text in one.select_one(".answer").get_text()]  # type: ignore[union-attr]
    return str(found[0]["id"])[2:]


def take(served: Served, text: str, learner: str, out: bool = True) -> tuple[int, dict[str, object]]:
    """Take an answer out of the group with this text, or put it back."""
    every = served.question("why").select(".group")
    answers = served.desk.reader.answers(served.desk.question(LESSON, "why"))
    (alias,) = [served.desk.reader.alias(one) for one in answers if one.key.learner == learner]
    groups = [one for one in every if alias in str(one["data-seen"])]
    seen = json.loads(str(groups[0]["data-seen"]))[alias]
    assert text in groups[0].get_text()
    return served.write("why", "apart", {"answer": alias, "seen": seen, "out": out})


@pytest.mark.slow
def test_groups_that_are_alike_stand_together(served: Served) -> None:
    served.come_in()
    said = in_order(served)
    assert said[0] == "Because of it."
    assert abs(said.index("Because a < b.") - said.index("Because a > b.")) == 1


@pytest.mark.slow
def test_a_difference_is_shown_as_text(served: Served) -> None:
    served.come_in()
    above, of = id_of(served, "a < b"), id_of(served, "desrever")
    status, told = look(served, f"difference?of={of}&above={above}")
    assert status == 200 and "taken away" in told["said"] and told["said"] in told["html"]
    assert "&lt;script&gt;" in told["html"] and "<script" not in told["html"] and "<img" not in told["html"]
    assert "\u202e" not in told["html"]
    told = look(served, f"difference?of={id_of(served, 'a > b')}&above={above}")[1]
    assert told["said"] == "Against the answer above, words and signs added: 1, taken away: 1."
    assert "added: </span>&gt;<span" in told["html"] and "<del>" in told["html"]
    assert look(served, f"difference?of={above}&above={above}")[1]["said"].startswith("No word differs")
    assert look(served, f"difference?of={of}&above=nothing")[0] == 404


@pytest.mark.slow
def test_one_answer_is_taken_out_of_its_group_and_marked_alone(served: Served) -> None:
    served.come_in()
    status, told = look(served, f"members?of={id_of(served, 'of it')}")
    assert status == 200 and "Because of it." in told["html"] and "because of  it" in told["html"]
    assert "ben" not in told["html"] and told["html"].count("waits") == 2
    status, told = take(served, "Because of it.", "ben")
    assert status == 200 and len(told["groups"]) == 2 and told["gone"] == []  # type: ignore[arg-type]
    said = in_order(served)
    assert said[:2] == ["Because of it.", "because of it"] or said[:2] == ["Because of it.", "because of  it"]
    assert len(said) == 5 and "taken out of its group" in served.question("why").select(".group")[1].get_text()
    # Another desk sees it, at once and after a restart.
    other = Desk(Reader(COURSE, served.room.root), "bob")
    other.read()
    assert [len(one.group.answers) for one in other.views(other.question(LESSON, "why"))] == [1] * 5
    other.book.close()
    assert served.mark("why", "Because of it.", 2)[0] == 200
    marks = marks_in(served.room, "why")
    assert marks["ada"] == (2.0, False) and marks["ben"] == (None, True)
    # Put back, both are marked at once; their marks stay.
    status, told = take(served, "because of", "ben", out=False)
    assert status == 200 and len(told["groups"]) == len(told["gone"]) == 1  # type: ignore[arg-type]
    assert "marks differ" in served.question("why").get_text() and len(in_order(served)) == 4
    assert served.mark("why", "Because of it.", 1)[0] == 200
    assert marks_in(served.room, "why")["ben"] == (1.0, False)


@pytest.mark.slow
def test_taking_out_is_undone_like_a_mark(served: Served) -> None:
    served.come_in()
    take(served, "Because of it.", "ben")
    served.mark("why", "a < b", 1)
    status, told = served.write("why", "undo", {})
    assert status == 200 and told["gone"] is None and len(in_order(served)) == 5
    status, told = served.write("why", "undo", {})
    assert status == 200 and len(told["gone"]) == 1 and len(in_order(served)) == 4
    assert served.write("why", "undo", {})[1]["said"] == "There is nothing to undo."
    # If somebody has put it back since, there is nothing to take back.
    take(served, "Because of it.", "ben")
    question = served.desk.question(LESSON, "why")
    other = Desk(served.desk.reader, "bob")
    ((learner, says),) = other.ledger.apart(question).items()
    other.change(question, [], apart=Apart(learner, says, out=False))
    other.book.close()
    assert served.write("why", "undo", {})[0] == 409
    assert served.write("why", "undo", {})[1]["said"] == "There is nothing to undo."


@pytest.mark.slow
def test_a_page_that_shows_an_answer_in_its_group_does_not_mark_it_there(served: Served) -> None:
    served.come_in()
    seen = served.seen("why", "Because of it.")
    take(served, "Because of it.", "ben")
    status, told = served.write("why", "mark", {"answers": seen, "points": 2})
    assert status == 409 and len(told["groups"]) == 2
    assert marks_in(served.room, "why")["ada"] == (None, True)
    # Neither is it taken out twice.
    alias = next(iter(seen))
    assert served.write("why", "apart", {"answer": alias, "seen": "old", "out": True})[0] == 409
    for body in ({}, [], {"answer": alias}, None):
        assert served.write("why", "apart", body)[0] == 400


@pytest.mark.slow
def test_an_answer_that_says_something_else_now_is_in_a_group_as_ever(served: Served) -> None:
    served.come_in()
    take(served, "Because of it.", "ben")
    answer_anew(served.room, "ben", "Because a < b.")
    assert sorted(len(json.loads(str(one["data-seen"]))) for one in served.question("why").select(".group")) == [
        1,
        1,
        1,
        2,
    ]


@pytest.mark.slow
def test_what_waits_tells_the_time_that_is_left(served: Served) -> None:
    served.come_in()
    assert "pace" not in served.page("/").get_text()
    path = served.room.root / ".course" / "desk.jsonl"
    waits, done = Given.of_json({"scores": {"why": [None, True]}, "comment": None}), None
    done = waits.with_points({"why": 1.0})
    lines = []
    for number in range(11):
        time = (NOON + timedelta(minutes=number * 3)).isoformat()
        line = {"id": f"{number}", "time": time, "marker": "ann", "lesson": LESSON, "question": "why"}
        lines.append(json.dumps(line | {"marks": [Change("ada", waits, done).as_json()]}))
    lines.insert(3, lines[2].replace('"2"', '"x"').replace("2026-01-01T12:06", "when"))
    path.parent.mkdir()
    path.write_text("".join(f"{one}\n" for one in lines))
    tree = served.page("/")
    told = [[one.get_text() for one in row.select("td")][5:] for row in tree.select("tbody tr")]
    # Four groups of written answers at three minutes; nobody has marked a task yet.
    assert told == [["12 min"], [""], [""]] and "About" not in tree.get_text()
    for name in ("plot", "twice"):
        with path.open("a") as file:
            file.write("".join(f"{one}\n".replace('"why"', f'"{name}"') for one in lines))
    assert "About 36 min of work" in served.page("/").header.get_text()  # type: ignore[union-attr]
