"""Late penalties are those of nbgrader's own plug-in, and a gradebook that we make is one that nbgrader makes."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI

from nbproof.errors import CourseError
from nbproof.gradebook.marks import GradedClass
from nbproof.gradebook.registry import create_tables
from nbproof.key import Key
from nbproof.places import course_config
from nbproof.report.records import read_class
from nbproof.report.report import tables
from nbproof.run.journal import RunState, forget
from nbproof.testing import Rehearsal, scores
from nbproof.testing.small import LESSON, RIGHT
from nbproof.values.words import ENGLISH
from nbproof_lms import collect
from nbproof_lms.attendance import late_by_lms
from nbproof_lms.outcome import uploads_in
from tests import COURSE, ROOT, main, some_by_day
from tests.lms.uploads import zipped
from tests.run.test_regrading import cut_off

PLUGIN = """
from nbgrader.plugins import LateSubmissionPlugin

class HalfADay(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        if student_id == "excused":
            return None
        return round(score * 0.5 * total_seconds_late / 86400, 2)

c.AssignLatePenalties.plugin_class = HalfADay
"""
HANDED_IN = {"early": "2026-03-01 10:00:00 UTC", "late": "2026-03-02 22:00:00 UTC", "later": "2026-03-09 10:00:00 UTC",
             "excused": "2026-03-09 10:00:00 UTC"}  # fmt: skip
BY_SUM = "def third(x):\n    return x + x + x + x"
DUE = "2026-03-02 10:00:00 UTC"


@pytest.fixture
def late_class(room: Rehearsal) -> Rehearsal:
    """Four right answers, handed in at different times, and a due date in the gradebook."""
    with (room.root / "nbgrader_config.py").open("a") as file:
        file.write(PLUGIN)
    for learner, time in HANDED_IN.items():
        (room.hand_in(learner, RIGHT).parent / "timestamp.txt").write_text(time)
    _due(room, DUE)
    return room


def _due(room: Rehearsal, time: str | None) -> None:
    with room.gradebook() as book:
        book.update_or_create_assignment(LESSON, duedate=time)


def _penalties(room: Rehearsal) -> dict[str, float | None]:
    with room.gradebook() as book:
        return {one.student.id: one.notebooks[0].late_submission_penalty for one in book.assignment_submissions(LESSON)}


def test_the_penalty_is_in_score_and_gradebook(late_class: Rehearsal) -> None:
    graded = late_class.grade()
    assert {ENGLISH.outcome(one) for score in graded.marks.values() for one in score.verdict.exercises} == {
        "Every check passed."
    }
    # Of 4 marks: half a day late costs a quarter; a week would cost more than there is, which nbgrader cuts.
    assert {score.learner: (score.score, score.penalty) for score in graded.marks.values()} == {
        "early": (4, 0), "late": (3, 1), "later": (0, 4), "excused": (4, 0),
    }  # fmt: skip
    assert _penalties(late_class) == {"early": None, "late": 1, "later": 4, "excused": None}


def test_another_hand_in_that_nothing_dates_has_no_time_of_the_one_before(late_class: Rehearsal) -> None:
    late_class.grade()
    assert _penalties(late_class)["later"] == 4
    for learner, answers in (("later", {"first": RIGHT["first"]}), ("late", RIGHT)):
        late_class.submitted(learner).with_name("timestamp.txt").unlink()
        late_class.hand_in(learner, answers)
    late_class.grade()
    assert (_penalties(late_class)["later"], _penalties(late_class)["late"]) == (None, 1), (
        "the same work came as late as before"
    )


def test_another_hand_in_is_taken_by_a_gradebook_that_has_nobody_yet(late_class: Rehearsal) -> None:
    late_class.grade()
    (late_class.root / "gradebook.db").unlink()
    late_class.hand_in("early", {"first": RIGHT["first"]})
    marks = late_class.grade().marks.values()
    assert {one.learner: (one.problem, one.score) for one in marks}["early"] == ("", 2)


@pytest.mark.parametrize("time", some_by_day([HANDED_IN["later"], "sometime"], 2))
def test_a_copy_that_counts_again_was_handed_in_when_it_was(
    time: str, late_class: Rehearsal, capsys: pytest.CaptureFixture[str]
) -> None:
    late_class.grade()
    late_class.hand_in("late", {"first": RIGHT["first"]})
    stamp = late_class.submitted("late").with_name("timestamp.txt")
    stamp.write_text(time)
    told, *_ = late_class.grade(only=["late"]).remarks
    # What the line says; then the same with the copy that this puts aside.
    assert main(shlex.split(told.partition(" -m course ")[2])) == 0
    assert (late_class.book()["late"], _penalties(late_class)["late"]) == (4, 1)
    assert "has an earlier copy" not in capsys.readouterr().out, "a person has just put it aside"
    (aside,) = late_class.root.glob("collected/*/replaced/late/*")
    collect(COURSE, late_class.root, [aside], learners=["late"])
    assert late_class.submitted("late").read_bytes() == (aside / f"{LESSON}.ipynb").read_bytes()
    notes = late_class.grade(only=["late"]).notes
    assert any(note.startswith("not known whether it is late") for note in notes) == (time == "sometime")
    assert bool(_penalties(late_class)["late"]) == (time != "sometime")
    assert stamp.read_text()[:10] != HANDED_IN["late"][:10]


def test_an_earlier_hand_in_is_named_when_it_would_have_more_marks_by_todays_dates(
    late_class: Rehearsal, capsys: pytest.CaptureFixture[str]
) -> None:
    """``later`` hands in 4 of 4, then 2, a week late; an extension and the penalty move afterwards."""
    root, config = late_class.root, late_class.root / "nbgrader_config.py"
    (root / "roster.csv").write_text("learner\nlater\n")
    late_class.grade()
    late_class.hand_in("later", {"first": RIGHT["first"]})

    def remarks(roster: str = "") -> list[str]:
        assert not roster or main(["roster", *roster.split(), "--course", str(root)]) == 0
        told = late_class.grade(only=["later"]).remarks
        return [one for one in told if not one.startswith("late penalties")]

    assert remarks() == [], "it would be as late, and have 0 as well"
    told = f"fewer marks with a new hand-in: later/{LESSON}: 4 → 2. If the earlier one should count: "
    assert main(["roster", "extend", "later", LESSON, "2026-03-10", "--course", str(root)]) == 0
    capsys.readouterr()
    assert main(["report", "--course", str(root)]) == 0 and told in capsys.readouterr().out
    assert [one.startswith(told) for one in remarks()] == [True] and remarks() == []
    late_class.submitted("later").write_bytes(b"%PDF-1.7")
    assert remarks() == [] and main(["report", "--course", str(root)]) == 0 and told not in capsys.readouterr().out
    # An extension that ends costs both the same.
    late_class.hand_in("later", {"first": RIGHT["first"] + "\n"})
    none = "fewer marks with a new hand-in, and by today's dates and penalty none in collected/graded/ alone would have more"
    assert remarks(f"extend later {LESSON} none") == [f"{none}: later/{LESSON}: 2 → 0"]
    config.write_text(config.read_text().replace("score * 0.5", "score * 0.05"))
    (said,) = remarks()
    assert f"later/{LESSON}: 2.6 → 1.3. " in said
    assert main(shlex.split(said.partition(" -m course ")[2])) == 0
    assert (late_class.book()["later"], _penalties(late_class)["later"], remarks()) == (4, 1.4, [])


def test_a_time_that_cannot_be_read_is_named_on_the_way_back(
    late_class: Rehearsal, capsys: pytest.CaptureFixture[str]
) -> None:
    stamp = late_class.submitted("late").with_name("timestamp.txt")
    stamp.write_text("sometime")
    late_class.grade(only=["late"])
    late_class.hand_in("late", {"first": RIGHT["first"]})
    stamp.write_text(HANDED_IN["early"])
    told, *_ = late_class.grade(only=["late"]).remarks
    main(shlex.split(told.partition(" -m course ")[2]))
    assert f"not known whether it is late: submitted/late/{LESSON}/timestamp.txt" in capsys.readouterr().out


@pytest.mark.usefixtures("one_engine")
def test_an_earlier_copy_is_told_if_it_holds_answers_until_it_is_settled(
    late_class: Rehearsal, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of four copies that came in time one holds an answer; and nothing is told of whoever loses no marks."""

    def told(words: str) -> str:
        capsys.readouterr()
        assert main([*shlex.split(words), "--course", str(late_class.root)]) == 0
        return capsys.readouterr().out

    right = late_class.submitted("late").read_bytes()
    late_class.hand_in("nobody", {})
    untouched = late_class.submitted("nobody").read_bytes()
    shutil.copytree(late_class.submitted("nobody").parent, late_class.root / "release" / LESSON)
    for number, data in enumerate((right, untouched, b"", b"\x89PNG")):
        for learner in ("late", "early"):
            folder = late_class.root / f"collected/000{number}-up/replaced/{learner}/{LESSON}"
            folder.mkdir(parents=True)
            (folder / f"{LESSON}.ipynb").write_bytes(data)
            (folder / "timestamp.txt").write_text(HANDED_IN["early"])
    copy = late_class.root / f"collected/0000-up/replaced/late/{LESSON}"
    said = told("grade --no-feedback")
    assert [line.split("--from ")[1].split()[0] for line in said.splitlines() if "that was in time" in line] == [
        str(copy)
    ]
    step = said.partition("ask no more about it: ")[2].partition("\n")[0].partition(" -m course ")[2]
    assert main(shlex.split(step)) == 0
    assert "in time" not in (again := told("grade --no-feedback --seed 1"))
    assert "--seed 1 does nothing for 5 unchanged submissions: --force marks these again" in again
    assert "settled: an earlier copy" in told("settle")
    told(f"settle {copy} --undo")
    assert "waits for you: an earlier copy" in told("settle") and str(copy) in told("grade --no-feedback")


@pytest.mark.usefixtures("one_engine")
def test_a_new_due_date_or_time_changes_penalties_and_nothing_runs(late_class: Rehearsal) -> None:
    late_class.grade()
    _due(late_class, "2026-03-09 10:00:00 UTC")
    again = late_class.grade()
    assert again.graded == ()
    (told,) = again.remarks
    assert (
        f"nothing new came: late/{LESSON}: 1 → 0 (marks 3 → 4), later/{LESSON}: 4 → 0 (marks 0 → 4). "
        "A due date or an extension has moved: " in told
    )
    assert late_class.grade().remarks == ()
    assert {score.score for score in again.marks.values()} == {4}
    (late_class.root / "submitted" / "early" / LESSON / "timestamp.txt").write_text("2026-03-09 22:00:00 UTC")
    third = late_class.grade()
    assert third.graded == () and third.remarks[0].endswith(
        "0 → 1 (marks 4 → 3). timestamp.txt tells another time than before"
    )
    assert {score.learner: score.penalty for score in third.marks.values()}["early"] == 1
    config = late_class.root / "nbgrader_config.py"
    config.write_text(config.read_text().replace("score * 0.5", "score * 0.25"))
    (told,) = late_class.grade().remarks
    assert "early/" in told and "or the penalty in nbgrader_config.py (penalty_method, plugin_class)" in told
    config.write_text(config.read_text().replace("score * 0.25", "score * 0.5"))
    # The same if nbgrader is asked.
    _due(late_class, DUE)
    outcome = NbGraderAPI(config=course_config(late_class.root)).autograde(LESSON, "*", force=False)
    assert outcome["success"], outcome["log"]
    assert _penalties(late_class) == {"early": 4, "late": 1, "later": 4, "excused": None}


@pytest.mark.parametrize("command", some_by_day(["feedback", "report", "formgrader"], 2))
def test_the_penalty_follows_a_mark_that_a_person_gave(
    command: str, late_class: Rehearsal, capsys: pytest.CaptureFixture[str]
) -> None:
    late_class.grade()
    with late_class.gradebook() as book:
        grade = next(one for one in book.find_submission(LESSON, "late").notebooks[0].grades if one.max_score)
        grade.manual_score = grade.auto_score - 2
        book.db.commit()
    if command == "formgrader":  # its button
        assert NbGraderAPI(config=course_config(late_class.root)).generate_feedback(LESSON, "late")["success"]
    else:
        for told in (1, 0):
            assert main([command, "--course", str(late_class.root)]) == 0
            said = "".join(capsys.readouterr())
            assert said.count(f"points taken off, are others now: late/{LESSON}: 1 → 0.5 (marks 1 → 1.5); ") == told
    assert _penalties(late_class) == {"early": None, "late": 0.5, "later": 4, "excused": None}
    assert {one.learner: one.penalty for one in late_class.grade().marks.values()}["late"] == 0.5


def test_an_extension_counts_for_one_learner_before_and_after_handing_in(late_class: Rehearsal) -> None:
    def told(graded: GradedClass) -> dict[str, tuple[float, float]]:
        return {one.learner: (one.late.seconds, one.penalty) for one in graded.marks.values()}

    (late_class.root / "roster.csv").write_text("learner\nearly\nlate\nzoe\n")
    assert main(["roster", "extend", "zoe", LESSON, "2026-03-03", "--course", str(late_class.root)]) == 0
    before = told(late_class.grade())
    assert before == {"early": (0, 0), "late": (43200, 1), "later": (604800, 4), "excused": (604800, 0)}
    records = read_class(COURSE, late_class.root, [LESSON])
    assert ("zoe", LESSON) not in records.marks, "an extension is no hand-in"
    assert records.more_time == frozenset(), "it has ended"
    assert main(["roster", "extend", "zoe", LESSON, "2126-03-03", "--course", str(late_class.root)]) == 0
    assert read_class(COURSE, late_class.root, [LESSON]).more_time == {("zoe", LESSON)}
    assert main(["roster", "extend", "zoe", LESSON, "2026-03-03", "--course", str(late_class.root)]) == 0
    assert main(["roster", "extend", "late", LESSON, "2026-03-02 18:00", "--course", str(late_class.root)]) == 0
    (late_class.hand_in("zoe", RIGHT).parent / "timestamp.txt").write_text("2026-03-03 23:59:59 UTC")
    again = late_class.grade()
    assert again.graded == (("zoe", LESSON),)
    assert told(again) == {**before, "zoe": (0, 0), "late": (4 * 3600, 0.33)}
    assert {one.learner for one in again.marks.values() if one.late.extended} == {"zoe", "late"}
    (late_class.root / "submitted" / "zoe" / LESSON / "timestamp.txt").write_text("2026-03-04 00:00:00 UTC")
    assert told(late_class.grade())["zoe"] == (1, 0)
    data = tables(read_class(COURSE, late_class.root, [LESSON]))
    assert [one["seconds_late"] for one in data["hand_ins"] if one["learner"] == "zoe"] == [1]


@pytest.mark.usefixtures("one_engine")
@pytest.mark.parametrize(
    ("bad", "first", "others"),
    [("None.oops", "AttributeError", {"early": None, "late": None, "later": None, "excused": None}),
     ("1 / (total_seconds_late < 600000)", "ZeroDivisionError", {"early": None, "late": 1, "later": None, "excused": None})],
)  # fmt: skip
def test_a_broken_plug_in_is_told_and_costs_nobody_else(
    late_class: Rehearsal, bad: str, first: str, others: dict[str, float | None], capsys: pytest.CaptureFixture[str]
) -> None:
    config = late_class.root / "nbgrader_config.py"
    sound = config.read_text()
    config.write_text(sound.replace('"excused"', bad))
    told = late_class.grade()
    assert len(told.graded) == 4
    (note,) = told.notes
    assert note.startswith(f"{LESSON}: the late-penalty plug-in fails: {first}") and "plugin_class" in note
    assert _penalties(late_class) == others
    assert main(["grade", "--only", "early", "--course", str(late_class.root)]) == 1
    assert note in " ".join(capsys.readouterr().out.split())
    config.write_text(sound)
    again = late_class.grade()
    assert again.graded == () and again.notes == ()
    assert scores(again) == {"early": 4, "late": 3, "later": 0, "excused": 4}


@pytest.mark.parametrize(("name", "says"), [("ENOSPC", "the disk is full"), ("", "gradebook is damaged")])
def test_what_disk_or_gradebook_say_meanwhile_is_no_plug_ins(late_class: Rehearsal, name: str, says: str) -> None:
    raised = f"OSError(errno.{name}, '')" if name else "sqlalchemy.exc.DatabaseError('', None, OSError('x'))"
    config = late_class.root / "nbgrader_config.py"
    bad = f"(_ for _ in ()).throw({raised})"
    sound = config.read_text()
    config.write_text("import errno\nimport sqlalchemy.exc\n" + sound.replace('"excused"', bad))
    with pytest.raises(CourseError, match=says) as told:
        late_class.grade()
    if name:
        assert "free some space, then run the same command again" in told.value.next_command
        config.write_text(sound)
        again = late_class.grade()
        assert again.graded == () and scores(again) == {"early": 4, "late": 3, "later": 0, "excused": 4}


@pytest.fixture
def said_late(room: Rehearsal, tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    """``late`` and ``early``, from a download of Canvas: it says who was late, and never when anybody handed in."""
    with (room.root / "nbgrader_config.py").open("a") as file:
        file.write(PLUGIN.replace("score * 0.5 * total_seconds_late / 86400", "1.5 if total_seconds_late > 0 else 0"))
    shutil.copytree(room.root / "source", room.root / "release")
    _canvas(room.root, tmp_path_factory.mktemp("up"), {
        f"late_LATE_1_5_{LESSON}.ipynb": room.hand_in("late", RIGHT).read_bytes(),
        f"early_2_6_{LESSON}.ipynb": room.hand_in("early", {**RIGHT, "third": BY_SUM}).read_bytes(),
    })  # fmt: skip
    return room


def _by_word(room: Rehearsal) -> GradedClass:
    return room.grade(late=late_by_lms(room.root))


def _canvas(course: Path, folder: Path, files: dict[str, bytes]) -> None:
    shutil.rmtree(course / "submitted", ignore_errors=True)
    path = folder / f"submissions {'-'.join(name[:9] for name in files)}.zip"
    path.write_bytes(zipped(files))
    assert not collect(COURSE, course, [path]).needs_person


def test_what_the_lms_calls_late_costs_what_being_late_costs(
    said_late: Rehearsal, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def told(graded: GradedClass) -> dict[str, tuple[bool, float, float]]:
        return {one.learner: (one.late.said, one.late.seconds, one.penalty) for one in graded.marks.values()}

    assert told(_by_word(said_late)) == {"early": (False, 0, 0), "late": (True, 0, 0)}, "no due date is known"
    assert not list((said_late.root / "submitted").rglob("timestamp.txt")), "nothing said when"
    _due(said_late, DUE)
    assert told(_by_word(said_late)) == {"early": (False, 0, 0), "late": (True, 1, 1.5)}
    assert _penalties(said_late) == {"early": None, "late": 1.5}
    assert told(_by_word(said_late)) == {"early": (False, 0, 0), "late": (True, 1, 1.5)}, "and stays so"
    right, other = (
        (said_late.root / f"submitted/{who}/{LESSON}/{LESSON}.ipynb").read_bytes() for who in ("late", "early")
    )
    again = {f"late_1_9_{LESSON}-1.ipynb": right + b" ", f"early_2_6_{LESSON}.ipynb": other}
    _canvas(said_late.root, tmp_path_factory.mktemp("up"), again)
    told_now = {"early": (False, 0, 0), "late": (False, 0, 0)}
    assert told(_by_word(said_late)) == told_now, "the copy that counts now was on time"


@pytest.mark.parametrize("due", some_by_day([DUE, None], 2))
def test_what_the_lms_calls_late_stays_late_on_every_way_back(
    due: str | None, said_late: Rehearsal, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the command that a run prints, and as a copy that a newer one has put aside."""
    root, key = said_late.root, Key("late", LESSON)
    mail = tmp_path / "x.ipynb"
    mail.write_bytes(said_late.hand_in("mail", {"first": RIGHT["first"]}).read_bytes())
    shutil.rmtree(root / "submitted/mail")
    _due(said_late, due)
    _by_word(said_late)
    collect(COURSE, root, [mail], learners=["late"])
    assert not late_by_lms(root)
    told, *_ = _by_word(said_late).remarks
    assert main(shlex.split(told.partition(" -m course ")[2])) == 0
    assert "(l) late: " in capsys.readouterr().out
    assert not [*root.glob("submitted/late/*/timestamp.txt"), *root.glob("collected/**/timestamp.txt")], "none was told"
    _due(said_late, "2026-03-20 10:00:00 UTC")
    assert _by_word(said_late).marks[key].late.said
    for number in range(2):
        collect(COURSE, root, [mail], learners=["late"])
        assert not late_by_lms(root)
        # First what Canvas has handed over, then what that command has put there.
        aside = sorted(root.glob("collected/0002-*/replaced/late/*"))[number]
        collect(COURSE, root, [aside], learners=["late"])
        assert late_by_lms(root) == {key}, aside
    record = [*uploads_in(root)][-1].records[0]
    assert (record.status, record.late, record.time) == ("taken", True, None)


def _described(path: Path) -> tuple[list[object], list[object]]:
    """Tables with their columns and keys; the version of the schema."""
    with contextlib.closing(sqlite3.connect(path)) as book:
        tables = book.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE '%alembic%' ORDER BY name").fetchall()
        return tables, book.execute("SELECT version_num FROM alembic_version").fetchall()


def test_tables_and_version_are_nbgraders(tmp_path: Path) -> None:
    course_config(ROOT)  # for PATH: nbgrader starts alembic by name
    ours, theirs = tmp_path / "ours.db", tmp_path / "theirs.db"
    create_tables(f"sqlite:///{ours}")
    Gradebook(f"sqlite:///{theirs}", "hooks").close()
    assert _described(ours) == _described(theirs)
    assert len(_described(ours)[1]) == 1


def test_the_last_second_is_on_time_and_a_time_that_cannot_be_read_costs_nothing(late_class: Rehearsal) -> None:
    """A due date as formgrader sets it; a time that is read again counts again."""
    _due(late_class, "2026-03-04 23:59:00 UTC")
    for learner, time in {"late": "2026-03-04 23:59:59.999 UTC", "later": "04/03/2026 10:00"}.items():
        (late_class.submitted(learner).parent / "timestamp.txt").write_text(time)
    told = late_class.grade()
    assert {one.learner for one in told.marks.values() if one.late.seconds or one.penalty} == {"excused"}
    assert [f"submitted/later/{LESSON}/timestamp.txt" in note for note in told.notes] == [True]
    assert late_class.grade(only=["later"]).notes == told.notes
    assert late_class.grade(only=["late"]).notes == ()
    (late_class.submitted("later").parent / "timestamp.txt").write_text("2026-03-05 00:59:59 UTC")
    assert late_class.grade().marks[Key("later", LESSON)].late.seconds == 3600
    (late_class.submitted("later").parent / "timestamp.txt").write_text("sometime")
    assert late_class.grade().marks[Key("later", LESSON)].late.seconds == 0
    # A plug-in may count whole hours from a due date that is in the middle of a second.
    _due(late_class, "2026-03-04 23:59:59.500000 UTC")
    (late_class.submitted("later").parent / "timestamp.txt").write_text("2026-03-05 00:59:59.500000 UTC")
    assert late_class.grade().marks[Key("later", LESSON)].late.seconds == 3600


def test_first_penalties_are_no_news_after_a_run_that_was_cut_off(
    late_class: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off(late_class, monkeypatch)
    forget(late_class.root, ["early"])
    assert {name.partition("/")[0] for name in RunState(late_class.root).stood} == {"late", "later", "excused"}
    assert late_class.grade().remarks == () and _penalties(late_class)["late"] == 1
    assert RunState(late_class.root).stood == {}, "and what is not needed any more names nobody"


def test_another_time_or_another_gradebook_since_is_named_until_it_is_graded(
    late_class: Rehearsal, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    """``late`` came in time after all, and ``early`` late; a gradebook of before ``later`` came again; none, an empty one."""
    root, up = late_class.root, tmp_path_factory.mktemp("up")
    book, page = root / "gradebook.db", root / f"feedback/late/{LESSON}/{LESSON}.html"
    rows = "".join(f"{name},{at},{name},9\n" for at, name in enumerate(HANDED_IN))
    (up / "canvas.csv").write_text(f"Student,ID,SIS Login ID,{LESSON} (5)\n    Points Possible,,,4\n{rows}")

    def told(words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main([*words.split(), "--course", str(root)])
        out, err = capsys.readouterr()
        return code, out + err

    def grades() -> tuple[str, list[str]]:
        text = told(f"report --canvas {up}/canvas.csv")[1]
        return text, [row[-1] for row in (root / "report/canvas.csv").read_text().splitlines()[2:]]

    late_class.grade()
    assert told("feedback")[0] == 0 and grades()[1] == ["4", "3", "0", "4"]
    shutil.copy(book, up)
    late_class.submitted("late").with_name("timestamp.txt").write_text(HANDED_IN["early"])
    late_class.submitted("early").with_name("timestamp.txt").write_text(HANDED_IN["late"])
    line = f"! timestamp.txt tells another time of the hand-in than the gradebook: early/{LESSON}, late/{LESSON}: "
    text, found = grades()
    assert line in text and found == ["9", "9", "0", "4"]
    assert line in told("feedback")[1] and "Late" in page.read_text()
    (remark,) = late_class.grade().remarks
    assert f"early/{LESSON}: 0 → 1 (marks 4 → 3), late/{LESSON}: 1 → 0 (marks 3 → 4). timestamp.txt tells" in remark
    text, found = grades()
    assert "another time" not in text and found == ["3", "4", "0", "4"]

    late_class.hand_in("excused", {})
    late_class.grade()
    after = (
        f"the gradebook lacked what was graded, and has it again: excused/{LESSON}; if it is a new one, or an older one"
    )
    for remark in (
        after,
        "the gradebook is not the one that the last command left, but an older one, or one of another folder: the",
    ):
        # The second time it is the copy of just before: what a person gave since, and a report has shown, is gone with it.
        shutil.copy(up / "gradebook.db", book)
        before = page.read_bytes()
        for words in ("feedback", f"report --canvas {up}/canvas.csv"):
            code, text = told(words)
            assert code == 1 and "an older one, or one of another folder: what people gave since is not in it" in text
        assert page.read_bytes() == before
        assert late_class.grade().remarks[0].startswith(remark)
        assert grades()[1] == ["3", "4", "0", "0"] and told("feedback")[0] == 0
        shutil.copy(book, up)
        assert told("report")[0] == 0
    # A second marker's copy of the course has seen more runs, and nothing of what was given here.
    other = replace(late_class, root=up / "course")
    shutil.copytree(root, other.root)
    for _ in range(3):
        other.grade(force=True)
    shutil.copy(other.root / "gradebook.db", book)
    assert "one of another folder" in told("feedback")[1]
    assert late_class.grade().remarks[0].startswith(remark)
    before = page.read_bytes()
    for spoil in (book.unlink, lambda: book.write_bytes(b"")):
        spoil()
        for words in ("feedback", "feedback --for folder", f"report --canvas {up}/canvas.csv"):
            code, text = told(words)
            assert code == 1 and "marks that people gave and late penalties are not known without it" in text, words
        assert page.read_bytes() == before
        assert f"early/{LESSON}, excused/{LESSON}, late/{LESSON}, later/{LESSON}; " in late_class.grade().remarks[0]
