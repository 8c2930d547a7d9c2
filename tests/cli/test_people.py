"""People are called by name: by whoever types a command, in nbgrader's gradebook, in a table for a mail merge."""

from __future__ import annotations

import shutil
import unicodedata
from pathlib import Path

import pytest

from nbproof.errors import UsageError
from nbproof.run.intake import select, take_in
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, RIGHT
from nbproof_lms.attendance import find_learners, name_in_gradebook
from nbproof_lms.roster import Member
from tests import COURSE, main

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::sqlalchemy.exc.SAWarning")

ROSTER = (
    'learner,name,email,also\n0001005,"Schmidt, Anna",anna@u.edu,id 77\n0001006,"Schmidt, Anna",anna2@u.edu,\n'
    '0001007,"Müller-Łukasz, Zoë",zoe@u.edu,zz\njg,Jörg Groß,,\n00k,Ada King,ada@u.edu,\n'
)


@pytest.fixture
def class_of_five(course: Path) -> Path:
    """On the roster; two of them bear one name. The gradebook knows everybody by id, and one more by name."""
    (course / "roster.csv").write_text(ROSTER)
    with Rehearsal(course, LESSON).gradebook() as book:
        for learner in ("0001005", "0001007", "jg", "00k", "[x]"):
            book.add_student(learner)
        book.add_student("guest", first_name="By", last_name="Hand", email="by@hand.org")
    return course


def _held(course: Path) -> dict[str, tuple[str | None, str | None, str | None]]:
    with Rehearsal(course, LESSON).gradebook() as book:
        return {one.id: (one.first_name, one.last_name, one.email) for one in book.students}


def test_the_gradebook_bears_the_names_of_the_roster_and_follows_it(class_of_five: Path) -> None:
    name_in_gradebook(class_of_five)
    assert _held(class_of_five) == {
        "0001005": ("Anna", "Schmidt", "anna@u.edu"), "0001007": ("Zoë", "Müller-Łukasz", "zoe@u.edu"),
        "jg": ("", "Jörg Groß", None), "00k": ("", "Ada King", "ada@u.edu"), "[x]": (None, None, None),
        "guest": ("By", "Hand", "by@hand.org"),
    }  # fmt: skip
    with Rehearsal(class_of_five, LESSON).gradebook() as book:
        book.update_or_create_student("jg", first_name="Jörg", last_name="Groß", email="set@by.hand")
    edited = ROSTER.replace("anna@u.edu", "").replace('"Müller-Łukasz, Zoë"', '"Łukasz, Zoë"')
    (class_of_five / "roster.csv").write_text(edited + "guest,,,\n")
    name_in_gradebook(class_of_five)
    held = _held(class_of_five)
    assert held["0001005"] == ("Anna", "Schmidt", None), "what the roster no longer says is gone"
    assert held["0001007"] == ("Zoë", "Łukasz", "zoe@u.edu")
    assert held["jg"] == ("Jörg", "Groß", "set@by.hand"), "what others put there, the roster does not contradict"
    assert held["guest"] == ("By", "Hand", "by@hand.org")


@pytest.mark.parametrize("command", ["add", "import"])
def test_names_arrive_with_the_commands_that_change_the_roster(command: str, class_of_five: Path) -> None:
    table = class_of_five / "table.csv"
    table.write_text("Vorname,Nachname,E-Mail,learner\nBea,Lee,bea@u.edu,guest\n")
    words = [str(table)] if command == "import" else ["guest", "--name", "Lee, Bea", "--email", "bea@u.edu"]
    assert main(["roster", command, *words, "--course", str(class_of_five)]) == 0
    assert _held(class_of_five)["guest"] == ("Bea", "Lee", "bea@u.edu")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Doe, Jane", ("Jane", "Doe", "Jane Doe")),
        ("Doe, John, Jr.", ("John", "Doe Jr.", "John Doe Jr.")),
        ("Jane Doe", ("", "", "Jane Doe")),
        ("Jane Doe, PhD", ("", "", "Jane Doe, PhD")),
        ("Suharto", ("", "", "Suharto")),
        ("", ("", "", "")),
    ],
)
def test_first_and_last_name_are_apart_only_where_that_is_known(name: str, parts: tuple[str, str, str]) -> None:
    person = Member("1", name).person
    assert (person.first_name, person.last_name, person.name) == parts


MEANT = {
    "0001007": "0001007", "zoë müller-łukasz": "0001007", "Müller-Łukasz, Zoë": "0001007", "Muller-Lukasz Zoe": "0001007",
    unicodedata.normalize("NFD", "Zoë Müller-Łukasz"): "0001007", "ZOE@u.edu": "0001007", "zz": "0001007", "77": "0001005",
    "[x]": "[x]", "jörg groß": "jg", "King, Ada": "00k", "by hand": "guest", "King": "00k", "zoe": "0001007",
}  # fmt: skip


@pytest.mark.parametrize("name", MEANT)
def test_one_who_is_called_so_is_taken_and_that_is_said(
    name: str, class_of_five: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert find_learners(class_of_five, [name], "--learner") == [MEANT[name]]
    told = capsys.readouterr().err
    assert (told == "") if name == MEANT[name] else (f" is {MEANT[name]} " in told)


NEAR = {
    "Anna Schmidt": ["0001005 Anna Schmidt <anna@u.edu>", "0001006 Anna Schmidt <anna2@u.edu>"],
    "Schmidt": ["0001005 Anna Schmidt", "0001006 Anna Schmidt"], "Schmit, Ana": ["0001005 Anna Schmidt"],
    "1007": ["0001007 Zoë Müller-Łukasz <zoe@u.edu>"], "Ada Kign": ["00k Ada King <ada@u.edu>"], "ana@u.edu": ["0001005"],
}  # fmt: skip


@pytest.mark.parametrize("name", NEAR)
def test_who_may_be_meant_is_listed_and_the_id_works(
    name: str, class_of_five: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = ["--course", str(class_of_five)]
    assert main(["roster", "due", LESSON, "2026-11-20", *course]) == 0
    assert main(["roster", "extend", name, LESSON, "2026-11-30", *course]) == 2
    told = capsys.readouterr().err
    assert [one for one in NEAR[name] if one not in told] == [] and "run the same command again with the id" in told
    assert main(["roster", "extend", NEAR[name][0].split()[0], LESSON, "2026-11-30", *course]) == 0
    assert main(["roster", "extend", "Nobody Atall", LESSON, "none", *course]) == 2
    assert "'Nobody Atall' is no learner's id\n" in capsys.readouterr().err


def test_a_number_that_is_near_to_many_is_near_to_none(course: Path) -> None:
    (course / "roster.csv").write_text("learner,name\n" + "".join(f"{number},\n" for number in range(1001, 1012)))
    with pytest.raises(UsageError) as told:
        find_learners(course, ["1019"], "--only")
    assert told.value.fact == "'1019' is no learner's id"
    assert "choose from: 1001, 1009, 1010, 1011; " in told.value.next_command


def test_nobody_is_removed_by_a_name_without_a_question_that_says_who(
    class_of_five: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["roster", "remove", "ada king", "--course", str(class_of_five)]
    assert main([*call, "--yes"]) == 2
    assert "'ada king' is no learner's id, and may mean: 00k Ada King <ada@u.edu>" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda text: "y")
    assert main(call) == 0
    assert "00k Ada King <ada@u.edu>: out of submitted/" in capsys.readouterr().out
    assert "00k" not in _held(class_of_five)


def test_grade_collect_and_feedback_take_names(class_of_five: Path, capsys: pytest.CaptureFixture[str]) -> None:
    course, room = ["--course", str(class_of_five)], Rehearsal(class_of_five, LESSON)
    work = class_of_five / "work.ipynb"
    room.hand_in("0001005", RIGHT).rename(work)
    assert main(["collect", str(work), "--learner", "1007", "--lesson", LESSON, *course]) == 2
    assert "may mean: 0001007 Zoë" in capsys.readouterr().err
    assert main(["collect", str(work), "--learner", "Zoe Müller-Łukasz", "--lesson", LESSON, *course]) == 0
    intake = take_in(COURSE, class_of_five, [LESSON])
    for only in ("Müller-Łukasz, Zoë", f"zoe@u.edu/{LESSON}"):
        chosen = select(intake, [only], lambda name: find_learners(class_of_five, [name], "--only")[0])
        assert [one.key.learner for one in chosen.submissions] == ["0001007"]
    capsys.readouterr()
    assert main(["grade", "--only", f"Zoe Lukas/{LESSON}", *course]) == 2
    assert "may mean: 0001007 Zoë" in capsys.readouterr().err
    for words in ([LESSON, "0001007"], ["submitted/0001007", LESSON], [f"submitted/0001007/{LESSON}/"]):
        assert main(["grade", *words, *course]) == 2
        assert f"grade --only 0001007/{LESSON} --course" in capsys.readouterr().err
    made = class_of_five / "autograded/0001007" / LESSON
    made.mkdir(parents=True)
    (made / f"{LESSON}.ipynb").write_text("{}")
    main(["feedback", "zoe müller-łukasz", *course])
    assert "'zoe müller-łukasz' is 0001007 Zoë" in capsys.readouterr().err
    assert main(["feedback", "Anna Schmidt", *course]) == 2
    assert "0001006 Anna Schmidt" in capsys.readouterr().err


@pytest.mark.usefixtures("one_engine")
def test_what_lies_under_another_id_of_the_roster_is_theirs_for_every_command(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ada and 0102 are other ids of two on the roster; d4 has handed in under both of theirs; nothing came of cyd."""
    room, said = Rehearsal(course, LESSON), ["--course", str(course)]
    for learner in ("ada", "0102", "dan", "d4"):
        room.hand_in(learner, RIGHT)
    (course / "roster.csv").write_text(
        'learner,name,email,also\nada@u.edu,"King, Ada",ada@u.edu,501 | ada\nben@u.edu,Ben Bell,,id 0102\n'
        "cyd@u.edu,Cyd Orr,,503 | cyd\nd4,Dan Ode,,dan | DO-4\n"
    )
    (course / "canvas.csv").write_text(
        f"Student,ID,SIS User ID,SIS Login ID,{LESSON} (5)\n    Points Possible,,,,4\n"
        '"King, Ada",1,,ada@u.edu,\nB,2,0102,x,\nC,3,,cyd@u.edu,\nD,4,,DO-4,\n'
    )
    report = ["report", "--canvas", str(course / "canvas.csv"), "--zero", "missing", *said]
    assert main(["grade", "--no-feedback", *said]) == 0
    told = capsys.readouterr().out
    assert f"nothing handed in: {LESSON}: cyd@u.edu Cyd Orr\n" in told
    two = f"one person under several ids: d4: {LESSON} (4); dan: {LESSON} (4)"
    assert two in told and told.count("under several ids") == 1
    assert _held(course)["ada"] == ("Ada", "King", "ada@u.edu") and _held(course)["0102"][1] == "Ben Bell"
    assert main(report) == 1
    told, why = capsys.readouterr()
    assert two in told and "d4 and dan are one person" in why and told.count("0% of the points") == 1
    assert f"nothing handed in: {LESSON}: cyd@u.edu Cyd Orr\n" in told
    given = (course / "report" / "canvas.csv").read_text().splitlines()[2:]
    assert [row.rpartition(",")[2] for row in given] == ["4", "4", "0", ""]
    shutil.rmtree(course / "submitted" / "d4")
    assert main(report) == 1
    why = capsys.readouterr().err
    step = why.partition("take away the one that does not count: ")[2].partition(" -m course ")[2]
    assert step.startswith("roster remove d4 "), "the work of the other id is all that there is"
    assert main([*step.split(), "--yes", *said]) == 0 and main(report) == 0
    assert "under several ids" not in capsys.readouterr().out
    for words in (("due", LESSON, "2026-01-02"), ("extend", "d4", LESSON, "2026-01-03")):
        assert main(["roster", *words, *said]) == 0
    assert main(["grade", "--no-feedback", *said]) == 0
    assert f"ids: d4: an extension for {LESSON}; dan: {LESSON} (4). " in capsys.readouterr().out
    assert main(["roster", "extend", "d4", LESSON, "none", *said]) == 0
    assert (course / "report" / "canvas.csv").read_text().splitlines()[-1].endswith(",4")
    assert find_learners(course, ["ada@u.edu", "ben@u.edu", "dan"], "--only")[:2] == ["ada", "0102"]
    assert main(["roster", "remove", "ada", "--yes", *said]) == 0
    assert "King" not in (course / "roster.csv").read_text() and "Dan Ode" in (course / "roster.csv").read_text()


@pytest.mark.usefixtures("one_engine")
def test_ids_that_have_lost_their_zeros_are_named_until_they_are_one(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A spreadsheet saved the roster: 0071 is 71 there. Ben's 0072 is another than Bea's 72."""
    said, right = ["--course", str(course)], "learner,name,email\n0071,Ada King,ada@u.edu\n0072,Ben Li,\n72,Bea Oz,\n"
    Rehearsal(course, LESSON).hand_in("0071", RIGHT)
    (course / "roster.csv").write_text(right)
    (course / "c.csv").write_text(
        f"Student,ID,SIS Login ID,{LESSON} (5)\n    Points Possible,,,4\nAda King,1,ada@u.edu,\n"
    )
    assert main(["grade", "--no-feedback", *said]) == 0
    assert "zeros" not in capsys.readouterr().out
    for text, code in ((right.replace("0071", "71"), 1), (right, 0)):
        (course / "roster.csv").write_text(text)
        for words in (["grade", "--no-feedback"], ["roster"], ["report", "--canvas", str(course / "c.csv")]):
            assert main([*words, *said]) == (code if words[0] == "report" else 0), words
            told = " ".join(capsys.readouterr().out.split())
            lost = "0071 Ada King <ada@u.edu> and 71 Ada King <ada@u.edu>. Spreadsheets drop such zeros"
            assert (lost in told) == (code == 1) and told.count("differ only in zeros in front") == code, words
        assert "a group that handed in as one" not in told and ("ids that differ only in zeros: see above" in told) == (
            code == 1
        )
